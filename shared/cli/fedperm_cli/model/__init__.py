"""`fedperm model`: what a run has learned, for other programs and for a test."""
