"""Two revisions of a library's tables: the second rebuilds one that another refers to."""

from fedperm.schema import Schema

SCHEMA = Schema("library", __name__)
