"""What a client is given when it starts, and the only place where it is put together."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from fedperm.clock import Clock
from fedperm.privacy.ledger import Ledger
from fedperm.services import CLIENT
from fedperm.state_folder import sole_user
from fedperm_client.peers import Peers
from fedperm_client.run_ledger import open_ledger
from fedperm_client.settings import ClientSettings
from fedperm_client.state_directory import StateDirectory

POLL_SECONDS = 20.0


@dataclass(frozen=True)
class Environment:
    """`poll_seconds` is how long the aggregator may hold back its answer if there is no task."""

    settings: ClientSettings
    state: StateDirectory
    ledger: Ledger | None
    peers: Peers
    clock: Clock
    randomness: Random
    poll_seconds: float


@contextmanager
def environment(
    settings: ClientSettings,
    peers: Peers,
    clock: Clock,
    randomness: Random,
    poll_seconds: float = POLL_SECONDS,
) -> Iterator[Environment]:
    """The state directory is this process's own until the block is left."""
    state = StateDirectory(settings.state_directory)
    with sole_user(state.path, CLIENT.title):
        state.open()
        ledger = open_ledger(state, settings.ceilings)
        yield Environment(settings, state, ledger, peers, clock, randomness, poll_seconds)
