"""`fedperm init-task` and `check-task`: one's own model and data."""
