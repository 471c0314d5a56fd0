"""Somebody who can write into the key server's database, and has neither its key-encryption key nor
an operator's secret: a stolen password of the database, a curious host, a backup put back."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fedperm import migrations
from fedperm.audit_chain import verify_chain
from fedperm.audit_register import register_of
from fedperm.database import sqlite_url
from fedperm.errors import TamperedError, UntrustedError
from fedperm.randomness import from_operating_system
from fedperm.services import KEY_SERVER
from fedperm.wire.enrolment_token import SECRET_OCTETS, EnrolmentToken, parse_token
from fedperm.wire.key_server import AccessTokenRequest, KeyRequest, TokenRequest
from fedperm.wire.public_keys import text_of
from fedperm.wire.statements import AccessToken, Confirmation, JsonWebKey, SchemeSpec
from fedperm_keyserver.marks import IntegrityKey
from fedperm_keyserver.migrations import SCHEMA
from fedperm_keyserver.records import StoredIntegrityKey
from fedperm_keyserver.root_keys import RootKeys
from fedperm_keyserver.tables import TokenRow
from fedperm_keyserver.vault import key_encryption_key
from tests.adversary.database_writer import DatabaseWriter
from tests.keyserver.member import Member
from tests.keyserver.refusals import problem, refusal
from tests.keyserver.server import KEK, KEY_BITS, OPERATOR, OTHER_KEK, MovingClock, Server
from tests.upgrade.ending import unpack

pytestmark = pytest.mark.anyio

Start = Callable[..., Server]
Enrol = Callable[[], Awaitable[Member]]


@pytest.fixture
def clock() -> MovingClock:
    return MovingClock()


@pytest.fixture
def start(tmp_path: Path, clock: MovingClock, database_url: str) -> Iterator[Start]:
    """A process of the key server, which may be one of several, or the next one."""
    started: list[Server] = []

    def start(kek: str = KEK) -> Server:
        started.append(Server(tmp_path, clock, kek, url=database_url))
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture
async def server(start: Start) -> Server:
    server = start()
    await server.api.create_key("demo", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    return server


@pytest.fixture
def enrolled(server: Server, clock: MovingClock) -> Enrol:
    async def enrol() -> Member:
        minted = await server.api.mint_token("demo", TokenRequest(), OPERATOR)
        member = Member(server, clock)
        await member.enrol(minted.token)
        return member

    return enrol


@pytest.fixture
def writer(server: Server, database_url: str) -> Iterator[DatabaseWriter]:
    assert server
    writer = DatabaseWriter(database_url)
    yield writer
    writer.engine.dispose()


async def found(server: Server) -> set[tuple[str, str]]:
    """What the audit log, which must hold, says that the key server found."""
    entries = (await server.api.audit(OPERATOR)).entries
    verify_chain(entries)
    return {(one.table, one.row) for one in register_of(entries).findings}


def lucky_token(server: Server, member: Member) -> str:
    """As if access had been granted: a release looks for itself. Signed by a key server that was
    started before its database was changed."""
    now = int(member.clock.time)
    token = AccessToken(
        iss=server.authority.identity.fingerprint,
        sub=member.name,
        aud=KEY_SERVER.audience,
        scope=KEY_SERVER.scope,
        key="demo",
        cnf=Confirmation(jwk=JsonWebKey(x=text_of(member.signing.public_key()))),
        iat=now,
        exp=now + 60,
        jti="lucky",
    )
    return server.authority.sign(token)


async def refuses(server: Server, member: Member) -> None:
    """Access and release, in the same words and without a detail."""
    token = lucky_token(member.server, member)
    wanted = AccessTokenRequest(assertion=member.assertion(), audience=KEY_SERVER.audience)
    for request in (
        server.api.access_token(wanted),
        server.api.release("demo", 1, token),
    ):
        error = await refusal(409, "tampered", request)
        assert error.message == "what this key server has stored was changed by somebody else"


async def test_blocked_enrolling_by_a_row_of_its_own(
    server: Server, start: Start, enrolled: Enrol, writer: DatabaseWriter, clock: MovingClock
):
    """Neither now nor after a restart, and all others are served as before."""
    honest, mallory = await enrolled(), Member(server, clock)
    writer.enrol(mallory, like=writer.row("clients", name=honest.name))
    await refuses(server, mallory)
    assert await found(server) == {("clients", "demo/mallory")}
    assert await honest.secret_key(1)
    await refuses(start(), mallory)
    await refusal(409, "tampered", server.api.clients("demo", OPERATOR))


async def test_blocked_enrolling_by_a_row_and_entries_of_its_own(
    server: Server, start: Start, enrolled: Enrol, writer: DatabaseWriter, clock: MovingClock
):
    """The log is one chain, and makes sense: but the key server has not written it."""
    honest, mallory = await enrolled(), Member(server, clock)
    writer.enrol(mallory, like=writer.row("clients", name=honest.name))
    forged = writer.entries_that_enrol(mallory, writer.entries())
    writer.rewrite_log(forged)
    assert register_of(forged).clients["demo", "mallory"]
    for one in (server, start()):
        await refuses(one, mallory)
        answer = await one.send("GET", "/readyz")
        assert (answer.status_code, problem(answer).kind) == (409, "tampered")


async def test_detected_removing_an_entry_and_chaining_the_rest_anew(
    server: Server, start: Start, enrolled: Enrol, writer: DatabaseWriter
):
    """The release that gives it away is gone; whoever runs or starts the key server is told."""
    honest = await enrolled()
    await honest.secret_key(1)
    await honest.secret_key(1)
    entries = writer.entries()
    (first, _) = [entry for entry in entries if entry.event == "key-released"]
    writer.rewrite_log([entry for entry in entries if entry != first])
    verify_chain(writer.entries())
    for one in (server, start()):
        await refuses(one, honest)


async def test_detected_a_release_without_an_enrolment(enrolled: Enrol, writer: DatabaseWriter):
    """By whoever reads the log, without any key."""
    await (await enrolled()).secret_key(1)
    entries = writer.entries()
    kept = [entry for entry in entries if entry.event != "client-enrolled"]
    writer.rewrite_log(kept)
    verify_chain(writer.entries())
    with pytest.raises(UntrustedError, match="was never enrolled"):
        register_of(writer.entries())


async def test_blocked_taking_back_a_revocation(
    server: Server, start: Start, enrolled: Enrol, writer: DatabaseWriter
):
    """By the client's row as it was, with the mark that it had: the log says otherwise."""
    revoked = await enrolled()
    before = writer.row("clients", name=revoked.name)
    await server.api.revoke_client("demo", revoked.name, OPERATOR)
    writer.change("clients", before, name=revoked.name)
    await refuses(server, revoked)
    await refuses(start(), revoked)
    assert await found(server) == {("clients", f"demo/{revoked.name}")}


async def test_blocked_using_a_token_again(
    server: Server, writer: DatabaseWriter, clock: MovingClock
):
    """By its row as it was before, or with more uses, or another secret."""
    first = await server.api.mint_token("demo", TokenRequest(), OPERATOR)
    other = await server.api.mint_token("demo", TokenRequest(), OPERATOR)
    before = writer.row("enrolment_tokens", id=first.status.id)
    await Member(server, clock).enrol(first.token)
    used = writer.row("enrolment_tokens", id=first.status.id)
    secret = writer.row("enrolment_tokens", id=other.status.id)["secret_sha256"]
    for row in (before, {**used, "uses": 2}, {**used, "secret_sha256": secret, "used": 0}):
        writer.change("enrolment_tokens", row, id=first.status.id)
        await refusal(409, "tampered", Member(server, clock).enrol(first.token))
    assert await found(server) == {("enrolment_tokens", first.status.id)}


async def test_blocked_enrolling_with_a_secret_of_its_own(
    server: Server, writer: DatabaseWriter, clock: MovingClock
):
    """In the place of a token's, of which the log says nothing: the mark does."""
    minted = parse_token((await server.api.mint_token("demo", TokenRequest(), OPERATOR)).token)
    own = EnrolmentToken(minted.id, b"m" * SECRET_OCTETS, minted.fingerprint)
    writer.change("enrolment_tokens", {"secret_sha256": own.secret_sha256}, id=minted.id)
    await refusal(409, "tampered", Member(server, clock).enrol(own.text))


async def test_blocked_enrolling_in_the_place_of_a_removed_row(
    server: Server, enrolled: Enrol, writer: DatabaseWriter, clock: MovingClock
):
    """Its ordinal, its name: both are in the log."""
    gone = await enrolled()
    minted = await server.api.mint_token("demo", TokenRequest(), OPERATOR)
    writer.delete("clients", name=gone.name)
    await refusal(409, "tampered", Member(server, clock).enrol(minted.token))


async def test_blocked_handing_a_clients_place_to_another_sealing_key(
    server: Server, enrolled: Enrol, writer: DatabaseWriter, clock: MovingClock
):
    victim, mallory = await enrolled(), Member(server, clock)
    sealing_key = text_of(mallory.sealing.public_key())
    writer.change("clients", {"sealing_key": sealing_key}, name=victim.name)
    await refuses(server, victim)


async def test_blocked_having_rows_marked_by_setting_the_tables_back(
    server: Server, start: Start, enrolled: Enrol, writer: DatabaseWriter, clock: MovingClock
):
    """To the version that had no marks, whose rows are marked when a newer key server starts."""
    honest, mallory = await enrolled(), Member(server, clock)
    like = writer.row("clients", name=honest.name)
    migrations.downgrade(writer.engine, SCHEMA, "0002")
    writer.look_again()
    writer.enrol(mallory, like={name: like[name] for name in like if name != "mac"})
    with pytest.raises(TamperedError):
        start()
    writer.look_again()
    writer.delete("identities")
    await refuses(start(), honest)


async def test_detected_taking_back_what_was_just_done(
    server: Server, enrolled: Enrol, writer: DatabaseWriter
):
    """Before anybody looks again: a release that nobody is to see, and a revocation."""
    honest = await enrolled()
    await honest.secret_key(1)
    newest = writer.entries()[-1]
    row = writer.row("audit_entries", number=newest.number)
    writer.delete("audit_entries", number=newest.number)
    await refuses(server, honest)
    writer.put("audit_entries", row)
    before = {name: writer.rows(name) for name in ("clients", "enrolment_tokens", "audit_entries")}
    await server.api.revoke_client("demo", honest.name, OPERATOR)
    for name, rows in before.items():
        writer.restore(name, rows)
    await refuses(server, honest)


async def test_detected_a_database_that_forgets_by_itself(
    server: Server, enrolled: Enrol, writer: DatabaseWriter, database_url: str
):
    """A trigger is quicker than anybody: it acts before the transaction ends."""
    if not database_url.startswith("sqlite"):
        pytest.skip("the trigger is written for SQLite; the key server looks at rows only")
    honest = await enrolled()
    writer.execute(
        "CREATE TRIGGER forget AFTER INSERT ON audit_entries WHEN new.event = 'key-released' "
        "BEGIN DELETE FROM audit_entries WHERE number = new.number; END"
    )
    await honest.secret_key(1)
    await refuses(server, honest)


async def test_blocked_marks_by_an_integrity_key_of_before(
    server: Server, start: Start, writer: DatabaseWriter, clock: MovingClock
):
    """Of a thief who had the key-encryption key and the database, until the operator changed it.
    Before that, its marks are as good as the key server's."""
    old, new = key_encryption_key(KEK), key_encryption_key(OTHER_KEK)
    stolen = IntegrityKey(
        old.unwrap(writer.row("integrity_key")["wrapped"], StoredIntegrityKey.purpose)
    )

    async def enrol_by_a_stolen_token(server: Server) -> None:
        minted = parse_token((await server.api.mint_token("demo", TokenRequest(), OPERATOR)).token)
        own = EnrolmentToken(minted.id, b"m" * SECRET_OCTETS, minted.fingerprint)
        row = {**writer.row("enrolment_tokens", id=minted.id), "secret_sha256": own.secret_sha256}
        mark = stolen.mark(TokenRow(**row))
        writer.change("enrolment_tokens", {**row, "mac": mark}, id=minted.id)
        await Member(server, clock).enrol(own.text)

    await enrol_by_a_stolen_token(server)
    RootKeys(server.beside(), clock, from_operating_system()).rewrap(old, new)
    server.close()
    after = start(OTHER_KEK)
    await refusal(409, "tampered", enrol_by_a_stolen_token(after))
    minted = await after.api.mint_token("demo", TokenRequest(), OPERATOR)
    await Member(after, clock).enrol(minted.token)


async def is_closed(server: Server) -> None:
    """It shows no identity, and says so where the operator looks."""
    for path in ("/readyz", "/v1/identity"):
        answer = await server.send("GET", path)
        assert (answer.status_code, problem(answer).kind) == (409, "tampered")
    verify_chain((await server.api.audit(OPERATOR)).entries)


async def test_blocked_an_identity_of_its_own(
    start: Start, enrolled: Enrol, writer: DatabaseWriter
):
    """In the place of the newest, or after it: the key server would show and believe it."""
    honest = await enrolled()
    own = {"signing_key": text_of(Ed25519PrivateKey.generate().public_key())}
    before = writer.row("identities", generation=1)
    writer.change("identities", own, generation=1)
    await is_closed(start())
    writer.change("identities", before, generation=1)
    writer.put("identities", {**before, **own, "generation": 2})
    closed = start()
    await is_closed(closed)
    await refuses(closed, honest)


async def test_blocked_bringing_back_a_retired_identity(
    server: Server, start: Start, writer: DatabaseWriter, clock: MovingClock
):
    """By its row as it was, with the mark that it had."""
    root = RootKeys(server.beside(), clock, from_operating_system())
    before = writer.row("identities", generation=1)
    root.succeed(key_encryption_key(KEK))
    root.retire(key_encryption_key(KEK), 1)
    writer.change("identities", before, generation=1)
    await is_closed(start())
    with pytest.raises(TamperedError):
        root.succeed(key_encryption_key(KEK))


async def test_blocked_going_back_to_an_older_identity(
    server: Server, start: Start, writer: DatabaseWriter, clock: MovingClock
):
    """By removing its successor, or all of them."""
    RootKeys(server.beside(), clock, from_operating_system()).succeed(key_encryption_key(KEK))
    writer.delete("identities", generation=2)
    await is_closed(start())
    writer.delete("identities")
    await is_closed(start())


async def test_not_covered_putting_back_a_database_from_before_there_were_marks(tmp_path: Path):
    """With a row of its own in it, and entries: it is believed as it is, once more, for as long as
    the key-encryption key is the one of then."""
    unpack(tmp_path)
    clock = MovingClock()
    writer = DatabaseWriter(sqlite_url(tmp_path / "keyserver" / "keyserver.db"))
    mallory = Member(None, clock, "main")
    writer.enrol(mallory, like=writer.row("clients", name="dan"))
    writer.rewrite_log(writer.entries_that_enrol(mallory, writer.entries()))
    mallory.server = Server(tmp_path / "keyserver", clock)
    assert await mallory.secret_key(2)
    mallory.server.close()
    writer.engine.dispose()
