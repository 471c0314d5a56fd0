"""What an aggregator that publishes sums of its own making learns of a secret permutation, by what
clients say of the model, and by what they send next."""
