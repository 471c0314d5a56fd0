"""`fedperm deployment`: what the one-shot containers do, before a federation and during it."""
