"""Whole federations of parts that only tests have: added by registration, in tests alone."""
