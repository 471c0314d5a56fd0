"""A client may lose its power between any two of its writes: their order says what it still has.

An upload is kept, then charged, then sent, so that nothing leaves uncharged and nothing is drawn
twice. An average is kept, then the upload goes: a client that had neither would not know that the
round counted it, and would take an aggregate without it for a good one.
"""

from pathlib import Path

import pytest

from tests.aggregator.system_effects import Effect, files_observed, removed, renamed, synced
from tests.client.cut_line import request_of
from tests.client.documents import rounds
from tests.client.federation import Home, drive

pytestmark = pytest.mark.anyio

SENT = Effect("request", "upload")


async def whole_run(federation) -> tuple[Home, list[Effect]]:
    """Of one round: what a client does to its state, and when it sends."""
    await federation.start_lines(rounds=rounds(count=1))
    ada, ben = await federation.line_homes("ada", "ben")
    seen: list[Effect] = []

    async def note() -> None:
        seen.append(SENT)

    ada.to_aggregator.meanwhile.append((request_of("PUT", "/rounds/1/updates/ada"), note))
    with ada.client() as one, ben.client() as two, files_observed(seen):
        await drive(federation, one, two)
    return ada, [e for e in seen if e == SENT or Path(e.where).is_relative_to(ada.state)]


def durable(path: Path, octets: int) -> list[Effect]:
    """A file that is whole or absent after a crash."""
    unfinished = path.with_name(path.name + ".new")
    return [synced(unfinished, octets), renamed(unfinished, path), synced(path.parent)]


async def test_an_upload_is_kept_then_charged_then_sent_until_the_average_is_kept(federation):
    ada, seen = await whole_run(federation)
    (upload,) = ada.uploads(1)
    prepared = ada.run_folder / "outbox" / "round-1-update-epoch-1.prepared"
    acknowledged = prepared.with_suffix(".acknowledged")
    ledger = ada.state / "privacy-ledger.jsonl"
    checkpoint = ada.run_folder / "checkpoint.safetensors"
    expected = [
        *durable(prepared, len(upload)),
        *durable(ledger, ledger.stat().st_size),
        SENT,
        renamed(prepared, acknowledged),
        synced(prepared.parent),
        *durable(checkpoint, checkpoint.stat().st_size),
        removed(acknowledged),
    ]
    start = seen.index(expected[0])
    assert seen[start : start + len(expected)] == expected
