"""Measurements and experiments: imports everything, is imported by nothing."""
