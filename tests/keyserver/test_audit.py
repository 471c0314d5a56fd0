"""The audit log over HTTP: in pages, unbroken, and evidence against whoever edits the database."""

import hashlib
import json

import pytest

from fedperm.audit_chain import START, verify_chain
from fedperm.errors import UntrustedError
from fedperm.randomness import from_operating_system
from fedperm.wire.key_server import TokenRequest
from fedperm_keyserver.events import EnrolmentRefused, Event, TamperingFound
from fedperm_keyserver.root_keys import RootKeys
from fedperm_keyserver.stores.audit import PAGE, append
from fedperm_keyserver.vault import key_encryption_key
from tests.keyserver.member import Member
from tests.keyserver.refusals import refusal
from tests.keyserver.server import KEK, OPERATOR, OTHER_KEK

pytestmark = pytest.mark.anyio


async def test_everything_that_matters_is_recorded_in_order(server, enrolled, clock):
    member = await enrolled()
    await member.secret_key(1)
    spare = await server.api.mint_token("demo", TokenRequest(), OPERATOR)
    await server.api.revoke_token("demo", spare.status.id, OPERATOR)
    pool = await server.api.mint_token("demo", TokenRequest(uses=2), OPERATOR)
    impostor = Member(server, clock)
    impostor.signing = member.signing
    await server.send("POST", "/v1/keys/demo/clients", impostor.enrolment(pool.token))
    await server.api.revoke_client("demo", member.name, OPERATOR)
    await server.api.destroy_epoch("demo", 1, OPERATOR)
    change_the_root_keys(server, clock)
    entries = (await server.api.audit(OPERATOR)).entries
    verify_chain(entries)
    assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
    assert [entry.event for entry in entries] == [
        "identity-created",
        "key-created",
        "token-minted",
        "client-enrolled",
        "key-released",
        "token-minted",
        "token-revoked",
        "token-minted",
        "enrolment-refused",
        "client-revoked",
        "token-revoked",
        "key-rotated",
        "epoch-destroyed",
        "identity-succeeded",
        "identity-retired",
        "secrets-rewrapped",
    ]
    kinds = {event.kind for event in Event.__subclasses__()}
    assert {entry.event for entry in entries} == kinds - {TamperingFound.kind}
    assert {entry.at for entry in entries} == {clock.time}


def change_the_root_keys(server, clock) -> None:
    root_keys = RootKeys(server.beside(), clock, from_operating_system())
    old, new = key_encryption_key(KEK), key_encryption_key(OTHER_KEK)
    root_keys.succeed(old)
    root_keys.retire(old, 1)
    root_keys.rewrap(old, new)


async def test_it_is_read_in_pages(server):
    event = EnrolmentRefused("demo", "token", "A" * 43, "for a long log")
    server.database.transact(
        lambda session: [append(session, event, number / 1000) for number in range(PAGE)]
    )
    first = (await server.api.audit(OPERATOR)).entries
    assert len(first) == PAGE
    rest = (await server.api.audit(OPERATOR, after=PAGE)).entries
    assert [entry.number for entry in rest] == [PAGE + 1, PAGE + 2]
    end = verify_chain(rest, verify_chain(first))
    assert end.number == PAGE + 2
    assert (await server.api.audit(OPERATOR, after=end.number)).entries == ()


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE audit_entries SET at = at + 1 WHERE number = 2",
        "UPDATE audit_entries SET event = 'key-rotated' WHERE number = 2",
        """UPDATE audit_entries SET details = '{"key":"other"}' WHERE number = 2""",
        "UPDATE audit_entries SET hash = previous WHERE number = 2",
        "DELETE FROM audit_entries WHERE number = 2",
        "DELETE FROM audit_entries WHERE number = 1",
    ],
)
async def test_an_edit_of_the_database_is_noticed(server, enrolled, edit):
    await enrolled()
    verify_chain((await server.api.audit(OPERATOR)).entries)
    with server.database.engine.begin() as connection:
        connection.exec_driver_sql(edit)
    with pytest.raises(UntrustedError):
        verify_chain((await server.api.audit(OPERATOR)).entries)


async def test_an_entry_cut_off_the_end_is_noticed_by_whoever_kept_it(server, enrolled):
    await enrolled()
    kept = verify_chain((await server.api.audit(OPERATOR)).entries)
    assert kept.number == 4
    with server.database.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM audit_entries WHERE number = 4")
    entries = (await server.api.audit(OPERATOR)).entries
    assert verify_chain(entries, START) != kept
    await refusal(409, "tampered", server.api.mint_token("demo", TokenRequest(), OPERATOR))


async def test_an_outsider_verifies_it_from_the_protocol_alone(server, enrolled, clock):
    clock.advance(0.1234)
    await (await enrolled()).secret_key(1)
    answer = await server.send("GET", "/v1/audit", token=OPERATOR)
    previous = "0" * 64
    for entry in json.loads(answer.content)["entries"]:
        found = entry.pop("hash")
        assert entry["previous"] == previous
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        assert hashlib.sha256(text.encode("ascii")).hexdigest() == found
        assert text[text.index('"at":') :].split(",")[0].encode() in answer.content
        previous = found


async def test_entries_say_who_asked_and_from_where(server, enrolled):
    member = await enrolled()
    await member.secret_key(1)
    await server.api.revoke_client("demo", member.name, OPERATOR)
    entries = (await server.api.audit(OPERATOR)).entries
    assert [(entry.event, entry.actor) for entry in entries] == [
        ("identity-created", "key-server"),
        ("key-created", "key-operator"),
        ("token-minted", "key-operator"),
        ("client-enrolled", "newcomer"),
        ("key-released", "client"),
        ("client-revoked", "key-operator"),
        ("token-revoked", "key-operator"),
        ("key-rotated", "key-operator"),
    ]
    assert entries[0].address is None
    assert {entry.address for entry in entries[1:]} == {"127.0.0.1"}
