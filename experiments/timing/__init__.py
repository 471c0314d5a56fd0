"""Time beside the paper's: `fedperm bench` as a measurement."""
