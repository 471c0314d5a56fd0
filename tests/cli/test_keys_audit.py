"""`fedperm keys audit`: the whole log of a real key server, and edits of its database."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import insert, select, text, update

from fedperm.api.connection import Connection, Patience, http_client
from fedperm.api.key_server import KeyServerApi
from fedperm.audit_chain import ChainEnd, verify_chain
from fedperm.clock import SystemClock
from fedperm.database import Database, sqlite_url
from fedperm.ids import EpochNumber, KeyName
from fedperm.randomness import from_operating_system
from fedperm.services import KEY_SERVER
from fedperm.wire.enrolment_token import EnrolmentToken, parse_token
from fedperm.wire.key_server import AuditEntry
from fedperm_client.access import Access
from fedperm_client.audit_witness import AuditWitness
from fedperm_client.identity import ClientIdentity, ClientKeys
from fedperm_keyserver.authority import establish
from fedperm_keyserver.events import EnrolmentRefused
from fedperm_keyserver.stores.audit import PAGE, AuditStore, append
from fedperm_keyserver.stores.keys import IdentityStore
from fedperm_keyserver.tables import AuditRow, TokenRow
from fedperm_keyserver.vault import key_encryption_key
from tests.cli.operator import Operator
from tests.cli.servers import Servers

UNKNOWN = "f" * 64
"""A hash that no entry has."""


@pytest.fixture
def database(servers: Servers) -> Iterator[Database]:
    """The running key server's own."""
    database = Database(sqlite_url(servers.folder.state("keyserver") / "keyserver.db"))
    yield database
    database.close()


@contextmanager
def changed_entry(database: Database, number: int, **values: str) -> Iterator[None]:
    """As it was when the block ends: other tests use the same server."""
    row = update(AuditRow).where(AuditRow.number == number)
    columns = [getattr(AuditRow, name) for name in values]
    with database.engine.begin() as connection:
        was = connection.execute(select(*columns).where(AuditRow.number == number)).one()
        connection.execute(row.values(values))
    try:
        yield
    finally:
        with database.engine.begin() as connection:
            connection.execute(row.values(was._asdict()))


def add_entries(servers: Servers, database: Database, count: int) -> None:
    """In one go, as another process of the key server would."""
    key = key_encryption_key((servers.folder.secrets / "key-encryption-key").read_text())
    establish(IdentityStore(database), key, SystemClock(), from_operating_system())
    refused = EnrolmentRefused("often", "token", "A" * 43, "for a long log")
    database.transact(lambda session: [append(session, refused, 0.0) for _ in range(count)])


def broken(operator: Operator, *arguments: str) -> str:
    """What a command says that finds the log broken; it prints nothing of it."""
    finished = operator("keys", "audit", *arguments)
    assert (finished.returncode, finished.stdout) == (1, "")
    return finished.stderr


def test_all_entries_are_printed_and_the_chains_end(operator: Operator) -> None:
    made = operator.json("keys", "create", "audited", "--key-bits", "512")
    log = operator.json("keys", "audit")
    entries = [AuditEntry.model_validate(entry) for entry in log["entries"]]
    assert verify_chain(entries) == ChainEnd(**log["end"])
    assert (entries[0].event, entries[-1].event) == ("identity-created", "key-created")
    assert entries[-1].details["key_id"] == made["key_id"]
    *lines, _, end, _ = operator.succeeds("keys", "audit").splitlines()
    assert len(lines) == len(entries) == log["end"]["number"]
    made_words = "key=audited scheme=paillier key_bits=512 keys=shared epoch=1"
    assert f"key-created       {made_words} key_id={made['key_id']}" in lines[-1]
    assert end.strip() == log["end"]["hash"]


def test_a_changed_entry_is_an_error_that_names_it(operator: Operator, database: Database) -> None:
    with changed_entry(database, 1, event="key-rotated"):
        assert "error: the audit log is broken: entry 1 was changed" in broken(operator)
    operator.json("keys", "audit")


def test_a_log_of_several_pages_is_one_chain(
    operator: Operator, servers: Servers, database: Database
) -> None:
    add_entries(servers, database, PAGE)
    log = operator.json("keys", "audit")
    assert len(log["entries"]) == log["end"]["number"] > PAGE
    first = log["entries"][PAGE]  # of the second page
    with changed_entry(database, first["number"], previous=UNKNOWN):
        words = broken(operator, "--json")
    assert f"entry {first['number']} does not follow entry {PAGE}" in words
    assert "hint: compare it with an earlier copy" in words


def test_an_end_that_was_kept_must_still_be_there(operator: Operator) -> None:
    log = operator.json("keys", "audit")
    kept = log["entries"][0]["hash"]
    assert operator.json("keys", "audit", "--kept", kept) == log
    assert f"does not hold the entry with hash {UNKNOWN}" in broken(operator, "--kept", UNKNOWN)


@pytest.mark.parametrize("command", [("keys", "audit"), ("audit", "verify")])
def test_what_is_no_hash_is_no_alarm(operator: Operator, command: tuple[str, str]) -> None:
    finished = operator(*command, "--kept", UNKNOWN[1:])
    assert finished.returncode == 2
    assert "is no hash" in finished.stderr


def test_nobody_but_the_key_operator_reads_it(operator: Operator) -> None:
    token = operator.environment["FEDPERM_RUN_OPERATOR_TOKEN_FILE"]
    finished = operator.instead(FEDPERM_KEY_OPERATOR_TOKEN_FILE=token)("keys", "audit")
    assert (finished.returncode, finished.stdout) == (3, "")


def test_a_verdict_alone(operator: Operator, database: Database) -> None:
    operator.json("keys", "create", "judged", "--key-bits", "512")
    end = operator.json("keys", "audit")["end"]
    assert operator.json("audit", "verify") == {"unbroken": True, "end": end, "witnesses": 0}
    assert f"unbroken: {end['number']:,} entries" in operator.succeeds("audit", "verify")
    assert operator("audit", "verify", "--kept", end["hash"]).returncode == 0
    assert operator("audit", "verify", "--kept", UNKNOWN).returncode == 1
    with changed_entry(database, 1, event="nothing-happened"):
        finished = operator("audit", "verify")
    assert (finished.returncode, finished.stdout) == (1, "")
    assert "entry 1 was changed" in finished.stderr


def test_a_copy_is_verified_without_a_server(operator: Operator, tmp_path) -> None:
    operator.json("keys", "create", "copied", "--key-bits", "512")
    copy = tmp_path / "log.json"
    copy.write_text(operator.succeeds("keys", "audit", "--json"))
    auditor = Operator({})
    end = operator.json("keys", "audit")["end"]
    assert auditor.json("audit", "verify", "--file", str(copy))["end"] == end
    log = json.loads(copy.read_text())
    (tmp_path / "cut.json").write_text(json.dumps(log | {"entries": log["entries"][:-2]}))
    finished = auditor("audit", "verify", "--file", str(tmp_path / "cut.json"))
    assert finished.returncode == 1
    assert f"says that its end is another: number {end['number']}" in finished.stderr
    copy.write_text(copy.read_text().replace("copied", "forged"))
    finished = auditor("audit", "verify", "--file", str(copy))
    assert finished.returncode == 1
    assert "was changed" in finished.stderr


@pytest.mark.parametrize(
    ("content", "words"), [("{}", "no copy of an audit log"), (None, "cannot read")]
)
def test_what_is_no_copy_is_refused(tmp_path, content: str | None, words: str) -> None:
    if content is not None:
        (tmp_path / "log.json").write_text(content)
    finished = Operator({})("audit", "verify", "--file", str(tmp_path / "log.json"))
    assert finished.returncode == 2
    assert words in finished.stderr


def test_without_a_copy_the_key_server_is_needed() -> None:
    finished = Operator({})("audit", "verify")
    assert finished.returncode == 2
    assert "--key-operator-token-file" in finished.stderr


def witness_of(servers: Servers, operator: Operator, key: str, path: Path) -> Path:
    """A client that enrols and gets its key, and what it holds afterwards."""
    operator.json("keys", "create", key, "--key-bits", "512")
    token = operator.json("client", "token", key)["token"]
    return asyncio.run(enrol_and_take(servers, key, parse_token(token), path))


async def enrol_and_take(servers: Servers, key: str, token: EnrolmentToken, path: Path) -> Path:
    keys = ClientKeys.kept_at(path / f"{key}-keys.json", Random(key))
    file = path / f"{key}.json"
    async with http_client(servers.key_server.address) as http:
        api = KeyServerApi(Connection(http, Patience(0)))
        enrolled = await api.enrol(KeyName(key), keys.enrolment(KeyName(key), token))
        identity = ClientIdentity(keys, enrolled)
        access = Access(identity, api, SystemClock(), Random())
        witness = AuditWitness(file, identity, lost=None)
        released = await access.using(
            KEY_SERVER, lambda granted: api.release(KeyName(key), EpochNumber(1), granted)
        )
        witness.take(released)
    return file


def test_the_log_is_held_against_what_clients_were_told(
    operator: Operator, servers: Servers, tmp_path: Path
) -> None:
    files = [witness_of(servers, operator, key, tmp_path) for key in ("one", "two")]
    options = [part for file in files for part in ("--witness", str(file))]
    assert operator.json("audit", "verify", *options)["witnesses"] == 2
    assert "it holds what 2 witnesses were told" in operator.succeeds("audit", "verify", *options)
    copy = tmp_path / "log.json"
    copy.write_text(operator.succeeds("keys", "audit", "--json", *options))
    assert Operator({}).succeeds("audit", "verify", "--file", str(copy), *options)
    log = json.loads(copy.read_text())
    entries = log["entries"][:-1]
    cut = {"entries": entries, "end": {n: entries[-1][n] for n in ("number", "hash")}}
    copy.write_text(json.dumps(cut))
    Operator({}).succeeds("audit", "verify", "--file", str(copy), *options[:2])
    finished = Operator({})("audit", "verify", "--file", str(copy), *options)
    assert finished.returncode == 1
    assert f"was told of entry {log['end']['number']} ({files[1]})" in finished.stderr
    files[0].write_text("{}")
    finished = operator("audit", "verify", *options)
    assert finished.returncode == 2
    assert "is no witness of an audit log" in finished.stderr


def test_rows_that_are_not_the_logs_are_an_error_that_names_them(
    operator: Operator, database: Database
) -> None:
    """A row that was removed by the log alone; one that was changed the key server names itself."""
    operator.json("keys", "create", "rows", "--key-bits", "512")
    token = operator.json("client", "token", "rows")["status"]["id"]
    row = {"id": token}
    with database.engine.begin() as connection:
        was = connection.execute(select(TokenRow.__table__).filter_by(id=token)).mappings().one()
        connection.execute(text("DELETE FROM enrolment_tokens WHERE id = :id"), row)
    words = f"does not say of the enrolment token {token} what its audit log says"
    assert words in broken(operator)
    with database.engine.begin() as connection:
        connection.execute(insert(TokenRow.__table__).values({**was, "uses": 9}))
    words = f"was changed by somebody else: enrolment_tokens {token} (entry "
    assert words in broken(operator)
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE enrolment_tokens SET uses = 1 WHERE id = :id"), row)
    assert words in broken(operator)
    last = AuditStore(database).entries(0, 10_000)[-1].number
    assert operator("keys", "audit", "--known", str(last)).returncode == 0
    assert operator("audit", "verify", "--known", str(last - 1)).returncode == 1
