"""`fedperm keys`: the key operator's keys and their epochs."""
