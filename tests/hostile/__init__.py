"""Input from people who mean harm: generated requests, mangled bytes, floods.

`python -m tests.hostile` is the long form of what the tests here do briefly."""
