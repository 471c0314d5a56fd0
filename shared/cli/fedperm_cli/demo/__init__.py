"""`fedperm demo`: a whole federation of real processes on one machine."""
