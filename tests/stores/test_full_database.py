"""A key server whose database has no room left: 507, nothing acknowledged, and on it goes."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from fedperm.audit_chain import verify_chain
from fedperm.errors import RefusedError
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.statements import SchemeSpec
from tests.keyserver.server import KEY_BITS, OPERATOR, MovingClock, Server

pytestmark = pytest.mark.anyio

MANY = 300
"""Tokens: more than the free places in pages that are there already."""
NO_LIMIT = 1 << 30


class Room:
    """SQLite itself says that there is none: no page is added while `is_left` is False."""

    def __init__(self, engine: Engine) -> None:
        self.is_left = True
        event.listen(engine, "checkout", self._limit)

    def _limit(self, connection: Any, *_: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {NO_LIMIT if self.is_left else 1}")


async def mint_until_refused(server: Server) -> tuple[list[str], RefusedError]:
    """The tokens that were handed out, and the refusal."""
    minted: list[str] = []
    for _ in range(MANY):
        try:
            token = await server.api.mint_token("main", TokenRequest(), OPERATOR)
        except RefusedError as refusal:
            return minted, refusal
        minted.append(token.status.id)
    raise AssertionError(f"room for {MANY} tokens")


async def test_what_finds_no_room_is_not_acknowledged_and_what_was_is_kept(tmp_path: Path):
    server = Server(tmp_path, MovingClock())
    await server.api.create_key("main", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    room = Room(server.database.engine)
    room.is_left = False
    minted, refusal = await mint_until_refused(server)
    assert (refusal.status, refusal.kind) == (507, "storage-full")
    assert (await server.api.key("main")).latest_epoch == 1  # reading goes on

    room.is_left = True
    minted.append((await server.api.mint_token("main", TokenRequest(), OPERATOR)).status.id)
    kept = (await server.api.tokens("main", OPERATOR)).tokens
    assert sorted(token.id for token in kept) == sorted(minted)
    entries = (await server.api.audit(OPERATOR)).entries
    verify_chain(entries)
    assert [entry.event for entry in entries].count("token-minted") == len(minted)
    server.close()
