"""`fedperm operator`: who the run operator is, by keys that no server holds."""
