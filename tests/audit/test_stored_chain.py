"""What the key server's stores append to the audit log, byte for byte: an operator who kept the end
of an older version's log can still verify it, and continue from there, after an upgrade."""

import json

import pytest
from sqlalchemy import text

from fedperm.audit_chain import START, ChainEnd, next_entry, verify_chain
from fedperm.database import Database, sqlite_url
from fedperm.wire.key_server import AuditEntry
from fedperm_keyserver.admission import judge
from fedperm_keyserver.records import Attempt, Epoch, Key, StoredIdentity, Token
from fedperm_keyserver.stores.audit import AuditStore
from fedperm_keyserver.stores.clients import AccessStore, ClientStore, TokenStore
from fedperm_keyserver.stores.keys import IdentityStore, KeyStore
from tests.keyserver.guarded import open_guarded

NOW = 1_800_000_000.12345
SECRET = b"\1" * 32
SIGNING, SEALING, OTHER = "B" * 43, "C" * 43, "D" * 43

STORED = [
    (
        "identity-created",
        '{"fingerprint": "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"}',
    ),
    (
        "key-created",
        '{"key": "demo", "scheme": "paillier", "key_bits": 512, "keys": "shared", "epoch": 1, '
        f'"key_id": "{"1" * 64}"}}',
    ),
    ("token-minted", '{"key": "demo", "token": "pool", "uses": 3, "client": null}'),
    ("token-minted", '{"key": "demo", "token": "one", "uses": 1, "client": "hospital-a"}'),
    (
        "client-enrolled",
        '{"key": "demo", "client": "hospital-a", "ordinal": 0, "token": "one", '
        f'"signing_key": "{SIGNING}", "sealing_key": "{SEALING}"}}',
    ),
    (
        "enrolment-refused",
        f'{{"key": "demo", "token": "one", "signing_key": "{OTHER}", '
        '"why": "the token was used with other keys"}',
    ),
    (
        "key-released",
        f'{{"key": "demo", "epoch": 1, "key_id": "{"1" * 64}", "client": "hospital-a", '
        f'"release_sha256": "{"3" * 64}"}}',
    ),
    ("token-revoked", '{"key": "demo", "token": "pool", "why": "by the key operator"}'),
    ("client-revoked", '{"key": "demo", "client": "hospital-a", "epoch": 2}'),
    (
        "token-revoked",
        '{"key": "demo", "token": "one", "why": "client hospital-a was revoked"}',
    ),
    (
        "key-rotated",
        f'{{"key": "demo", "epoch": 2, "key_id": "{"2" * 64}", '
        '"why": "client hospital-a was revoked"}',
    ),
]
"""Every kind of event that older versions knew, as existing databases hold it."""

END = ChainEnd(11, "4c92c59eeecc2bd450a1dbc27e4086ae236097d9f5e4f3be518201943b3ce4b8")
"""Worked out when events were still untyped."""


@pytest.fixture
def database(tmp_path):
    database = open_guarded(sqlite_url(tmp_path / "keyserver.db"))
    yield database
    database.close()


def epoch(number: int) -> Epoch:
    return Epoch("demo", number, str(number) * 64, "record", b"wrapped", NOW)


def token(name: str, uses: int, client: str | None = None) -> Token:
    return Token(name, "demo", SECRET, uses, 0, NOW + 60, revoked=False, client=client)


def lead_a_full_life(database: Database) -> None:
    IdentityStore(database).keep(StoredIdentity("A" * 43, b"wrapped"), NOW)
    key = Key("demo", "paillier", {"key_bits": 512}, "shared", 1, "1" * 64, NOW)
    KeyStore(database).create(key, epoch(1))
    tokens, clients = TokenStore(database), ClientStore(database)
    tokens.mint(token("pool", 3), NOW)
    tokens.mint(token("one", 1, "hospital-a"), NOW)
    client = clients.enrol(Attempt("demo", "one", SECRET, SIGNING, SEALING), judge, NOW).client
    clients.enrol(Attempt("demo", "one", SECRET, OTHER, SEALING), judge, NOW)
    AccessStore(database).record_release(client, epoch(1), "3" * 64, NOW)
    tokens.revoke("demo", "pool", NOW)
    clients.revoke(client, epoch(2), NOW)


SINCE = ', "first_epoch": 1}'
"""What an enrolment says more than it did."""


def test_entries_are_stored_as_they_always_were(database):
    """Members that came later stand behind those that were there."""
    lead_a_full_life(database)
    with database.engine.begin() as connection:
        rows = connection.execute(
            text("SELECT event, details FROM audit_entries ORDER BY number")
        ).all()
    found = [(event, details.replace(SINCE, "}")) for event, details in rows]
    assert found == STORED
    entries = AuditStore(database).entries(0, 100)
    verify_chain(entries)
    assert {(entry.actor, entry.address) for entry in entries} == {("key-server", None)}


def test_entries_of_before_said_who_asked_keep_their_hashes():
    end = START
    for event, details in STORED:
        entry = next_entry(end, round(NOW, 3), event, json.loads(details))
        arrived = AuditEntry.model_validate_json(entry.model_dump_json())
        end = verify_chain([arrived], end)
    assert end == END
