"""Ids, each of its own type: mypy refuses a run's name where a client's is wanted.

At run time they are the plain `str` and `int` that JSON and the databases hold. A value gets its
type where it enters: a message, a row, a setting, an argument of the command. What is allowed on
the wire says `fedperm.wire.message`.
"""

from typing import NewType

RunName = NewType("RunName", str)
"""Of a run, at its aggregator."""

ClientName = NewType("ClientName", str)
"""Of a client, among those that are enrolled for a key."""

KeyName = NewType("KeyName", str)
"""Of a key at the key server; runs with this key share its clients."""

RoundNumber = NewType("RoundNumber", int)
"""Of a round in its run, from 1."""

EpochNumber = NewType("EpochNumber", int)
"""Of a key's epoch, from 1: each has a public and a secret half of its own."""

NO_CLIENT, NO_ROUND, NO_EPOCH = ClientName(""), RoundNumber(0), EpochNumber(0)
"""Where there is none: an event of the whole run, a run before its first round or epoch."""
