"""`fedperm client`: who may enrol, who has, and who no longer may."""
