"""How many rooms one thing passes through: `make walk`."""
