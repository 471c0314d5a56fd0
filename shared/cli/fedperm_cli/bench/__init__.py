"""`fedperm bench`: the product's own functions, measured beside python-paillier."""
