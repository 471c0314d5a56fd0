"""Parties of a run that play against a real aggregator."""

import time

import pytest

from tests.aggregator.bench import Bench
from tests.aggregator.parties import Client, KeyServer, ManualClock


@pytest.fixture
def play(small_key, randomness):
    """A bench on an aggregator's process."""

    def play(process) -> Bench:
        process.clock = ManualClock(time.time())
        server = KeyServer(process.clock, {1: small_key})
        clients = [Client(name) for name in ("ada", "ben", "cleo")]
        return Bench(process, server, randomness, clients)

    return play
