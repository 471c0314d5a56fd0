"""Uploads as raw requests, so that anything about them can be wrong."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from fedperm.errors import RefusedError
from fedperm.wire.aggregator import MANIFEST
from fedperm.wire.body import MEDIA_TYPE
from fedperm.wire.digest import content_digest
from tests.aggregator.bench import Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import Client, Prepared

UNTRUSTED = "urn:fedperm:problem:untrusted"
WRONG_BODY = "urn:fedperm:problem:wrong-body"


def files(bench: Bench) -> list[Path]:
    """Everything that was uploaded, finished or not."""
    state = bench.aggregator.settings.state_directory
    found = [*state.glob("incoming/*"), *state.glob("runs/*/rounds/*/uploads/*")]
    return sorted(found)


async def refused(bench: Bench, client: Client, number: int, prepared: Prepared) -> tuple[int, str]:
    with pytest.raises(RefusedError) as caught:
        await bench.upload(client, number, prepared)
    return caught.value.status, caught.value.kind


def headers(bench: Bench, client: Client, prepared: Prepared) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {bench.server.token(client)}",
        "Content-Type": MEDIA_TYPE,
        "Content-Length": str(len(prepared.body)),
        "Content-Digest": content_digest(hashlib.sha256(prepared.body).hexdigest()),
        MANIFEST: prepared.manifest,
    }


async def put(
    bench: Bench, client: Client, given: dict[str, str], body: bytes | AsyncIterator[bytes]
) -> httpx.Response:
    """A request with exactly these headers."""
    path = f"/v1/runs/{bench.run}/rounds/1/updates/{client.name}"
    return await bench.aggregator.http.put(path, content=body, headers=given)


async def finish(bench: Bench, clients: list[Client]) -> None:
    """The round still ends as it should."""
    await bench.contribute(1, *clients)
    await bench.aggregator.tick()
    assert set(await check_sum(bench, 1)) == {client.name for client in clients}
