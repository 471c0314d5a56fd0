"""Federations on this machine: their processes, and what their operators do."""
