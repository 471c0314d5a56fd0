"""Integer Laplace noise that is safe in finite precision (floats are not: Mironov 2012)."""
