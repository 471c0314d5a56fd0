"""A revision that fails after half its work."""

from fedperm.schema import Schema

SCHEMA = Schema("library", __name__)
