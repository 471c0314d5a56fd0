"""The operator's command line, `fedperm`."""
