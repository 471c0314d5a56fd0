"""The database: every method is one transaction, and what is to be audited is audited in it."""
