"""Mutation testing: small mistakes are put into copies of the modules that decide, one at a time,
and the tests must notice. docs/mutants.md says what is mutated and judges what survived."""
