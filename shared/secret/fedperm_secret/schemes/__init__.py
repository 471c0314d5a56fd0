"""The secret half of each scheme of `fedperm.schemes`."""
