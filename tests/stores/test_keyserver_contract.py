"""What the key server's stores promise, on SQLite and on PostgreSQL, to many threads at once.

Two sets of stores share each database, so whatever holds does not hold by a lock in memory.
"""

from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import text

from fedperm import crash_points
from fedperm.audit_chain import verify_chain
from fedperm.database import Database, sqlite_url
from fedperm.errors import BusyError, GoneError, StorageFullError, UnauthenticatedError
from fedperm.wire.public_keys import text_of
from fedperm_keyserver.admission import judge
from fedperm_keyserver.records import Admitted, Attempt, Epoch, Key, Refused, StoredIdentity, Token
from fedperm_keyserver.stores import open_stores
from tests.keyserver.guarded import open_guarded
from tests.stores.shared_run import NOW, at_once

THREADS = 8
HASH = b"\1" * 32


def epoch(number: int, maker: int = 0) -> Epoch:
    return Epoch("demo", number, f"id-{number}-{maker}", "record", b"wrapped", NOW)


def token(name: str = "token", uses: int = 1) -> Token:
    return Token(name, "demo", HASH, uses, 0, NOW + 1000, revoked=False, client=None)


def attempt(number: int) -> Attempt:
    return Attempt("demo", "token", HASH, f"signing {number}", f"sealing {number}")


class Side:
    """The stores of one process."""

    def __init__(self, database: Database) -> None:
        self.database = database
        stores = open_stores(database)
        self.identity, self.keys = stores.identity, stores.keys
        self.tokens, self.clients = stores.tokens, stores.clients
        self.access, self.audit = stores.access, stores.audit

    def events(self) -> list[str]:
        """Of the whole audit log, once its chain was found whole."""
        entries = self.audit.entries(0, 10_000)
        verify_chain(entries)
        assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
        return [entry.event for entry in entries]


@pytest.fixture
def new_sides(database_url):
    """Before their first start."""
    sides = [Side(open_guarded(database_url)) for _ in range(2)]
    yield sides
    for side in sides:
        side.database.close()


@pytest.fixture
def sides(new_sides):
    new_sides[0].keys.create(
        Key("demo", "paillier", {"key_bits": 512}, "shared", 1, "id-1-0", NOW), epoch(1)
    )
    return new_sides


def kinds(results: list[object]) -> list[str]:
    return sorted(type(result).__name__ for result in results)


def test_a_token_for_one_is_used_by_one(sides):
    sides[0].tokens.mint(token(), NOW)
    verdicts = at_once(THREADS, lambda i: sides[i % 2].clients.enrol(attempt(i), judge, NOW))
    assert kinds(verdicts) == [Admitted.__name__] + [Refused.__name__] * (THREADS - 1)
    (used,) = sides[0].tokens.all("demo")
    assert (used.used, len(sides[0].clients.all("demo"))) == (1, 1)
    assert sides[0].events().count("enrolment-refused") == THREADS - 1


def test_of_a_token_for_three_three_uses_are_taken_and_ordinals_have_no_gap(sides):
    sides[0].tokens.mint(token(uses=3), NOW)
    results = at_once(THREADS, lambda i: sides[i % 2].clients.enrol(attempt(i), judge, NOW))
    assert kinds(results) == [Admitted.__name__] * 3 + [GoneError.__name__] * (THREADS - 3)
    assert [client.ordinal for client in sides[1].clients.all("demo")] == [0, 1, 2]
    assert sides[0].events().count("client-enrolled") == 3


def test_an_assertion_is_used_once(sides):
    sides[0].tokens.mint(token(), NOW)
    client = sides[0].clients.enrol(attempt(0), judge, NOW).client
    results = at_once(
        THREADS, lambda i: sides[i % 2].access.use_assertion(client, "jti", NOW + 60, NOW)
    )
    assert kinds(results) == ["NoneType"] + [UnauthenticatedError.__name__] * (THREADS - 1)


def test_the_audit_chain_has_no_gap_and_no_fork_whoever_appends(sides):
    sides[0].tokens.mint(token(), NOW)
    client = sides[0].clients.enrol(attempt(0), judge, NOW).client
    before = len(sides[0].events())

    def work(i):
        side = sides[i % 2]
        for j in range(6):
            if i % 4 < 2:
                side.tokens.mint(token(f"{i} {j}"), NOW)
            else:
                side.access.record_release(client, epoch(1), "0" * 64, NOW)

    assert kinds(at_once(THREADS, work)) == ["NoneType"] * THREADS
    assert len(sides[0].events()) == before + THREADS * 6


def test_an_epoch_is_made_once(sides):
    made = at_once(THREADS, lambda i: sides[i % 2].keys.rotate(epoch(2, i), "why"))
    assert len({each.key_id for each in made}) == 1
    assert sides[0].keys.get("demo").latest_epoch == 2
    assert sides[0].events().count("key-rotated") == 1


def test_a_revocation_and_a_release_happen_one_after_the_other(sides):
    """Once the revocation is recorded no key leaves any more."""
    sides[0].tokens.mint(token(), NOW)
    client = sides[0].clients.enrol(attempt(0), judge, NOW).client

    def work(i):
        if i == 4:
            return sides[0].clients.revoke(client, epoch(2), NOW)
        return sides[i % 2].access.record_release(client, epoch(1), "0" * 64, NOW)

    results = at_once(THREADS, work)
    events = sides[1].events()
    assert "key-released" not in events[events.index("client-revoked") :]
    assert kinds(results).count("AuditEntry") == events.count("key-released")


def test_the_identity_is_kept_once(new_sides):
    sides = new_sides
    keys = [text_of(Ed25519PrivateKey.generate().public_key()) for _ in range(THREADS)]
    at_once(THREADS, lambda i: sides[i % 2].identity.keep(StoredIdentity(keys[i], b"wrapped"), NOW))
    assert [len(side.identity.all()) for side in sides] == [1, 1]
    assert sides[0].events().count("identity-created") == 1


def test_what_dies_before_its_commit_leaves_no_entry(sides):
    before = sides[0].events()

    def die(moment: str) -> None:
        if moment == "TokenStore.mint.uncommitted":
            raise RuntimeError

    with crash_points.watching(die), pytest.raises(RuntimeError):
        sides[0].tokens.mint(token(), NOW)
    assert sides[0].events() == before
    assert sides[0].tokens.all("demo") == ()


def test_a_full_disk_uses_no_token(tmp_path):
    side = Side(open_guarded(sqlite_url(tmp_path / "keyserver.db")))
    side.keys.create(
        Key("demo", "paillier", {"key_bits": 512}, "shared", 1, "id-1-0", NOW), epoch(1)
    )
    side.tokens.mint(token(), NOW)
    side.database.erase_leftovers([])  # free pages, which revisions leave behind
    with side.database.engine.begin() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar()
        connection.execute(text(f"PRAGMA max_page_count = {pages}"))
    long = replace(attempt(0), sealing_key="x" * 10_000)
    with pytest.raises(StorageFullError):
        side.clients.enrol(long, judge, NOW)
    assert "client-enrolled" not in side.events()
    with side.database.engine.begin() as connection:
        connection.execute(text(f"PRAGMA max_page_count = {pages + 100}"))
    assert isinstance(side.clients.enrol(long, judge, NOW), Admitted)
    side.database.close()


def test_a_connection_cut_while_a_token_is_used_leaves_it_unused(postgresql):
    side = Side(open_guarded(postgresql.new_database()))
    side.keys.create(
        Key("demo", "paillier", {"key_bits": 512}, "shared", 1, "id-1-0", NOW), epoch(1)
    )
    side.tokens.mint(token(), NOW)

    def cut(moment: str) -> None:
        if moment.startswith("ClientStore.enrol") and moment.endswith(".uncommitted"):
            postgresql.cut_all_connections()

    with crash_points.watching(cut), pytest.raises(BusyError):
        side.clients.enrol(attempt(0), judge, NOW)
    assert side.tokens.all("demo")[0].used == 0
    assert isinstance(side.clients.enrol(attempt(1), judge, NOW), Admitted)
    side.events()
    side.database.close()
