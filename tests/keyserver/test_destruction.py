"""The secret key of an old epoch is destroyed: nobody gets it again, and its octets are gone."""

from pathlib import Path
from random import randbytes

import pytest

from fedperm.database import Database, sqlite_url
from fedperm.errors import GoneError
from fedperm.randomness import from_operating_system
from fedperm.wire.key_server import KeyRequest
from fedperm.wire.statements import SchemeSpec
from fedperm_keyserver.root_keys import RootKeys
from fedperm_keyserver.stores.clients import AccessStore
from fedperm_keyserver.stores.keys import KeyStore
from fedperm_keyserver.vault import key_encryption_key
from tests.keyserver.refusals import refusal
from tests.keyserver.server import KEK, KEY_BITS, OPERATOR, OTHER_KEK, Server

pytestmark = pytest.mark.anyio


@pytest.fixture
async def rotated(server) -> Server:
    await server.api.create_epoch("demo", 2, OPERATOR)
    return server


def files_with(server: Server, octets: bytes) -> list[str]:
    """Of the database, its log and whatever else lies beside it."""
    folder = Path(server.database.engine.url.database).parent
    return sorted(path.name for path in folder.iterdir() if octets in path.read_bytes())


async def test_a_destroyed_epoch_is_released_to_nobody_and_its_record_stays(rotated, enrolled):
    member = await enrolled()
    await member.release(2)
    record = await rotated.api.epoch("demo", 1)
    gone = await rotated.api.destroy_epoch("demo", 1, OPERATOR)
    assert (gone.key, gone.epoch, gone.key_id) == ("demo", 1, (await member.record(1)).key_id)
    error = await refusal(410, "gone", member.release(1))
    assert error.message == "epoch 1 of key demo was destroyed"
    assert await rotated.api.epoch("demo", 1) == record
    await member.release(2)


async def test_it_is_done_and_recorded_once(rotated, clock):
    gone = await rotated.api.destroy_epoch("demo", 1, OPERATOR)
    clock.advance(60)
    assert await rotated.api.destroy_epoch("demo", 1, OPERATOR) == gone
    entries = (await rotated.api.audit(OPERATOR)).entries
    (entry,) = [entry for entry in entries if entry.event == "epoch-destroyed"]
    assert entry.details == {"key": "demo", "epoch": 1, "key_id": gone.key_id}


async def test_the_newest_epoch_and_those_that_are_not_there_are_not_destroyed(rotated, enrolled):
    error = await refusal(409, "conflict", rotated.api.destroy_epoch("demo", 2, OPERATOR))
    assert "rotate" in error.hint
    for key, epoch in (("demo", 3), ("other", 1)):
        request = rotated.api.destroy_epoch(key, epoch, OPERATOR)
        await refusal(404, "unknown-resource", request)
    await (await enrolled()).release(2)


async def test_a_release_that_was_under_way_does_not_leave(server, enrolled, clock):
    """It was made before the destruction, and would be recorded after it."""
    member = await enrolled()
    await server.api.create_epoch("demo", 2, OPERATOR)
    store = AccessStore(server.database)
    _, client, epoch = store.releasable("demo", member.name, 1)
    await server.api.destroy_epoch("demo", 1, OPERATOR)
    with pytest.raises(GoneError, match="was destroyed"):
        store.record_release(client, epoch, "0" * 64, clock.time)


async def test_its_octets_are_in_no_file_of_the_database(rotated):
    wrapped = KeyStore(rotated.database).epoch("demo", 1).wrapped
    assert files_with(rotated, wrapped)
    await rotated.api.destroy_epoch("demo", 1, OPERATOR)
    assert files_with(rotated, wrapped) == []


async def test_what_was_left_by_a_crash_is_erased_when_it_is_asked_for_again(rotated, clock):
    store = KeyStore(rotated.database)
    wrapped = store.epoch("demo", 1).wrapped
    store.destroy("demo", 1, clock.time)
    assert files_with(rotated, wrapped)
    await rotated.api.destroy_epoch("demo", 1, OPERATOR)
    assert files_with(rotated, wrapped) == []


async def test_rewrapping_leaves_nothing_under_the_old_key_and_what_is_destroyed_destroyed(
    rotated, clock
):
    await rotated.api.destroy_epoch("demo", 1, OPERATOR)
    wrapped = KeyStore(rotated.database).epoch("demo", 2).wrapped
    old, new = key_encryption_key(KEK), key_encryption_key(OTHER_KEK)
    assert RootKeys(rotated.beside(), clock, from_operating_system()).rewrap(old, new) == 3
    assert files_with(rotated, wrapped) == []
    assert KeyStore(rotated.beside()).epoch("demo", 1).wrapped == b""


@pytest.mark.parametrize("octets", [1_300, 6_000], ids=["within a page", "on pages of its own"])
def test_what_a_lenient_sqlite_leaves_in_its_pages_is_erased(tmp_path, octets):
    """Some builds overwrite what is deleted by themselves, others do not."""
    database, secret = Database(sqlite_url(tmp_path / "any.db")), randbytes(octets)
    with database.engine.connect() as connection:
        connection.connection.driver_connection.execute("PRAGMA secure_delete=OFF")
    with database.engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE secrets (number INTEGER PRIMARY KEY, octets BLOB)")
        for number in (1, 2):
            row = (number, secret if number == 1 else randbytes(octets))
            connection.exec_driver_sql("INSERT INTO secrets VALUES (?, ?)", row)
    with database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE secrets SET octets = x'' WHERE number = 1")
    database.erase_leftovers(["secrets"])
    pieces = [secret[start : start + 16] for start in range(0, octets - 15, 16)]
    found = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert [piece for piece in pieces if piece in found] == []
    database.close()


async def test_on_postgresql_its_octets_are_not_in_the_tables_file(tmp_path, clock, postgresql):
    """In PostgreSQL's own log they are, which is not ours to cut."""
    server = Server(tmp_path, clock, url=postgresql.new_database())
    await server.api.create_key("demo", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    await server.api.create_epoch("demo", 2, OPERATOR)
    wrapped = KeyStore(server.database).epoch("demo", 1).wrapped
    assert wrapped in table_file(server)
    await server.api.destroy_epoch("demo", 1, OPERATOR)
    assert wrapped not in table_file(server)
    server.close()


def table_file(server: Server) -> bytes:
    """As it is on the disk."""
    with server.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as there:
        there.exec_driver_sql("CHECKPOINT")
        query = "SELECT pg_read_binary_file(pg_relation_filepath('epochs'))"
        return bytes(there.exec_driver_sql(query).scalar_one())
