"""`python -m experiments.encrypted.recording_client`: the product's client, which is recorded.

Settings are those of `python -m fedperm_client`. The records are in its state directory.
"""

import asyncio
import sys
from pathlib import Path

import torch

from experiments.encrypted.recording import Notebook, RecordingAggregator, RememberingRandom
from fedperm.api.connection import Connection, Patience, http_client
from fedperm.api.key_server import KeyServerApi
from fedperm.clock import SystemClock
from fedperm.logs import configure_logs
from fedperm_client.environment import environment
from fedperm_client.participant import Participant
from fedperm_client.peers import Peers
from fedperm_client.settings import ClientSettings

_HICCUP = Patience(seconds=0.5)


def notebook_in(state: Path) -> Notebook:
    return Notebook(state / "recorded")


def main() -> None:
    settings = ClientSettings.from_environment()
    configure_logs(settings.log_level, sys.stderr)
    torch.set_num_threads(settings.torch_threads)
    asyncio.run(_take_part(settings))


async def _take_part(settings: ClientSettings) -> None:
    randomness = RememberingRandom()
    notebook = notebook_in(settings.state_directory)
    async with (
        http_client(settings.keyserver_url) as to_key_server,
        http_client(settings.aggregator_url) as to_aggregator,
    ):
        peers = Peers(
            KeyServerApi(Connection(to_key_server, _HICCUP)),
            RecordingAggregator(Connection(to_aggregator, _HICCUP), notebook, randomness),
        )
        patience = Patience(settings.patience_seconds, first_pause_seconds=0.5)
        with environment(settings, peers, SystemClock(), randomness) as given:
            await Participant(given, patience).run()


if __name__ == "__main__":
    main()
