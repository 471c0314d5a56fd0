"""`fedperm preflight`: what would go wrong, before it does."""
