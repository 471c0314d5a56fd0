"""Finishes the deployment with both servers and all clients in this process."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

import pytest

from fedperm.wire.digest import sha256_of
from fedperm_cli.audit.log import read_log
from fedperm_cli.servers.sessions import KeyOperator
from fedperm_client.errors import WithheldKeyError
from fedperm_client.summary import Summary
from tests.client.federation import KEY_OPERATOR, RUN_OPERATOR, Federation, Home, drive
from tests.keyserver.server import MovingClock
from tests.upgrade.ending import NEW_EPOCH, NEWCOMER, OF_SEALED, OLD_CLIENTS, Ending, unpack

STARTED_AGAIN_AT = 1_700_001_000.0
SETTINGS = {"accountant": "no-shuffle-rdp"}


def finish(folder: Path) -> Ending:
    unpack(folder)
    (folder / "aggregator").rename(folder / "state")
    (folder / "aggregator").mkdir()
    (folder / "state").rename(folder / "aggregator" / "state")
    return asyncio.run(_finish(folder))


async def _finish(folder: Path) -> Ending:
    federation = Federation(folder, MovingClock(STARTED_AGAIN_AT))
    federation.aggregator = federation.aggregator.restarted()  # it finds what another has left
    homes = [Home(federation, name, "enrolled long ago", SETTINGS) for name in OLD_CLIENTS]
    newcomer = await federation.home(NEWCOMER, **SETTINGS)
    await federation.rest()
    with newcomer.client(run="demo") as client, pytest.raises(WithheldKeyError) as refused:
        await drive(federation, client)
    await _play(federation, "demo", homes, rounds=2)
    await federation.rotate_and_go_on(NEW_EPOCH)
    demo_summaries = await _play(federation, "demo", homes)
    sealed_summaries = await _play(federation, "sealed", homes[: len(OF_SEALED)])
    api = federation.aggregator.api
    ending = Ending(
        folder=folder,
        demo=(await api.rounds("demo", RUN_OPERATOR)).rounds,
        demo_summaries=demo_summaries,
        sealed=(await api.rounds("sealed", RUN_OPERATOR)).rounds,
        sealed_summaries=sealed_summaries,
        uploads={
            (home.name, number): digests
            for home in homes
            for number in (1, 2, 3)
            if (digests := {sha256_of(body) for body in home.uploads(number)})
        },
        audit=await read_log(KeyOperator(federation.key_server.api, KEY_OPERATOR)),
        refusal=refused.value.message,
    )
    federation.close()
    return ending


async def _play(
    federation: Federation, run: str, homes: list[Home], rounds: int | None = None
) -> dict[str, Summary]:
    """To its end, or until so many rounds are settled."""
    with ExitStack() as started:
        clients = [started.enter_context(home.client(run=run)) for home in homes]
        await drive(federation, *clients, rounds=rounds)
    return {} if rounds is not None else {home.name: home.summary for home in homes}
