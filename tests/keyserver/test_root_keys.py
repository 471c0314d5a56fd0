"""The key-encryption key and the signing identity are changed beside a stopped server."""

import subprocess
import sys

import pytest

from fedperm.errors import ConflictError, SealedError, UnknownResourceError, UntrustedError
from fedperm.randomness import from_operating_system
from fedperm.services import AGGREGATOR
from fedperm.wire.key_server import TokenRequest
from fedperm.wire.public_keys import fingerprint, signing_key
from fedperm.wire.signed import sign, verify
from fedperm.wire.statements import AccessToken, EpochRecord, IdentitySuccession
from fedperm.wire.succession import followed
from fedperm_keyserver.root_keys import RootKeys
from fedperm_keyserver.stores.secrets import SecretStore
from fedperm_keyserver.tables import Base, SecretRow
from fedperm_keyserver.vault import key_encryption_key
from tests.keyserver.member import Member
from tests.keyserver.process import environment
from tests.keyserver.refusals import refusal
from tests.keyserver.server import KEK, OPERATOR, OTHER_KEK, Server

pytestmark = pytest.mark.anyio

OLD, NEW = key_encryption_key(KEK), key_encryption_key(OTHER_KEK)


def root_keys(server: Server, clock) -> RootKeys:
    return RootKeys(server.beside(), clock, from_operating_system())


async def events(server: Server) -> list[str]:
    return [entry.event for entry in (await server.api.audit(OPERATOR)).entries]


def test_whatever_is_wrapped_is_rewrapped():
    """A table that holds a secret and is not known as one would be lost with the old key."""
    wrapped = {table.name for table in Base.metadata.tables.values() if "wrapped" in table.columns}
    assert wrapped == {table.__tablename__ for table in SecretRow.__subclasses__()}


async def test_a_rewrapped_database_opens_with_the_new_key_and_not_with_the_old_one(
    server, start, enrolled, clock
):
    member = await enrolled()
    await server.api.create_epoch("demo", 2, OPERATOR)
    before = [(await member.secret_key(epoch)).public_key for epoch in (1, 2)]
    assert root_keys(server, clock).rewrap(OLD, NEW) == 4
    assert SecretStore(server.beside()).wrappers() == {NEW.identifier: 4}
    member.server = start(kek=OTHER_KEK)
    assert member.server.authority.identity == server.authority.identity
    assert [(await member.secret_key(epoch)).public_key for epoch in (1, 2)] == before
    with pytest.raises(SealedError, match=f"{NEW.identifier} wrapped it, this is {OLD.identifier}"):
        start(kek=KEK).authority.check_open()
    (entry,) = [e for e in (await server.api.audit(OPERATOR)).entries if "rewrap" in e.event]
    assert entry.details == {"wrapped_by": NEW.identifier, "secrets": 4}


async def test_rewrapping_again_changes_nothing(server, clock):
    assert [root_keys(server, clock).rewrap(OLD, NEW) for _ in range(2)] == [3, 0]
    assert (await events(server)).count("secrets-rewrapped") == 1


async def test_what_the_old_key_does_not_open_stops_all(server, clock):
    other = key_encryption_key("0" * 64)
    with pytest.raises(SealedError):
        root_keys(server, clock).rewrap(other, NEW)
    assert SecretStore(server.database).wrappers() == {OLD.identifier: 3}


async def test_a_server_with_the_old_key_adds_nothing_that_the_new_one_does_not_open(
    server, start, clock, enrolled
):
    """One on another machine that nobody stopped."""
    member = await enrolled()
    root_keys(start(), clock).rewrap(OLD, NEW)
    await refusal(503, "sealed", server.api.create_epoch("demo", 2, OPERATOR))
    await refusal(503, "sealed", member.release(1))
    assert SecretStore(server.beside()).wrappers() == {NEW.identifier: 3}


async def test_a_successor_is_named_by_the_one_before(server, start, clock):
    first = server.authority.identity
    root_keys(server, clock).succeed(OLD)
    second = (await start().api.identity()).signing_key
    root_keys(server, clock).succeed(OLD)
    newest = await start().api.identity()
    assert followed(first.fingerprint, newest) == (first.signing_key, second, newest.signing_key)
    assert followed(fingerprint(second), newest) == (second, newest.signing_key)
    assert followed(newest.fingerprint, newest) == (newest.signing_key,)
    with pytest.raises(UntrustedError, match="no succession leads"):
        followed(newest.fingerprint, first)
    assert (await events(server))[-2:] == ["identity-succeeded"] * 2


async def test_a_succession_that_somebody_else_signed_leads_nowhere(server, start, clock, tmp_path):
    """The last link is of another key server, or changed."""
    first = server.authority.identity
    root_keys(server, clock).succeed(OLD)
    right = start().authority.identity
    stranger = Server(tmp_path / "another", clock)
    theirs = stranger.authority.identity
    link = IdentitySuccession(signing_key=first.signing_key, successor=theirs.signing_key, iat=0)
    claimed = sign(link, stranger.authority.vault.signing_key)
    for forged in (
        theirs,
        theirs.model_copy(update={"succession": right.succession}),
        right.model_copy(update={"succession": ()}),
        theirs.model_copy(update={"succession": (claimed,)}),
    ):
        with pytest.raises(UntrustedError):
            followed(first.fingerprint, forged)
    stranger.close()


async def test_an_older_identity_signs_for_those_who_know_it(server, start, enrolled, clock):
    """Access tokens and releases by whom the assertion is for, records by whom is asked for."""
    member, old = await enrolled(), server.authority.identity
    token = (await server.api.mint_token("demo", TokenRequest(), OPERATOR)).token
    root_keys(server, clock).succeed(OLD)
    later = start()
    new = later.authority.identity
    await later.api.create_epoch("demo", 2, OPERATOR)
    for known in (old, new):
        key = signing_key(known.signing_key)
        text = await member.access(AGGREGATOR)
        assert verify(text, AccessToken, signing_key(old.signing_key)).iss == old.fingerprint
        records = [
            (await later.api.epoch("demo", epoch, known.fingerprint)).record for epoch in (1, 2)
        ]
        assert [verify(text, EpochRecord, key).epoch for text in records] == [1, 2]
    member.server = later
    assert verify(await member.access(), AccessToken, later.authority.public_key)
    assert (await member.release(2)).epoch == 2
    newcomer = Member(server, clock)  # its token and its proof name the old identity
    answer = await later.api.enrol("demo", newcomer.enrolment(token))
    assert followed(old.fingerprint, answer.key_server)[-1] == new.signing_key


async def test_a_retired_identity_signs_nothing_and_its_private_key_is_gone(
    server, start, enrolled, clock
):
    member, old = await enrolled(), server.authority.identity
    keys = root_keys(server, clock)
    with pytest.raises(ConflictError, match="make its successor before"):
        keys.retire(OLD, 1)
    keys.succeed(OLD)
    keys.retire(OLD, 1)
    keys.retire(OLD, 1)
    with pytest.raises(UnknownResourceError):
        keys.retire(OLD, 7)
    later = start()
    assert followed(old.fingerprint, later.authority.identity)
    await refusal(401, "unauthenticated", ask_as_before(member, later))
    await refusal(404, "unknown-resource", later.api.epoch("demo", 1, old.fingerprint))
    assert (await later.api.epoch("demo", 1)).record
    assert (await events(server)).count("identity-retired") == 1


async def ask_as_before(member: Member, later: Server) -> str:
    """With an assertion for the identity that it knows, sent to the server of today."""
    known, member.server.api = member.server.api, later.api
    try:
        return await member.access()
    finally:
        member.server.api = known


def run_command(folder, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fedperm_keyserver.root_keys", *arguments],
        env=environment(folder, **settings),
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_takes_the_servers_settings(tmp_path, clock):
    (tmp_path / "new").write_text(OTHER_KEK)
    server = Server(tmp_path / "state", clock)
    first = server.authority.identity.fingerprint
    server.close()
    ended = run_command(tmp_path, "rewrap", new_key_encryption_key_file=str(tmp_path / "new"))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == [
        "brought under the new key-encryption key: 2",
        f"identity 1  {first}",
        f"2 secrets wrapped by {NEW.identifier}",
    ]
    new = {"key_encryption_key_file": str(tmp_path / "new")}
    ended = run_command(tmp_path, "succeed", **new)
    assert ended.stdout.splitlines()[2] == f"3 secrets wrapped by {NEW.identifier}"
    ended = run_command(tmp_path, "retire", "1", **new)
    assert ended.stdout.splitlines()[0] == f"identity 1  {first}  retired"
    assert run_command(tmp_path, "show", key_encryption_key_file="").stdout == ended.stdout


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (["rewrap"], {}, "there is no new key-encryption key"),
        (["succeed"], {"key_encryption_key_file": ""}, "there is no key-encryption key"),
        (["retire", "2"], {}, "there is no identity 2"),
    ],
)
def test_a_mistake_is_told_with_what_to_do(tmp_path, arguments, settings, said):
    ended = run_command(tmp_path, *arguments, **settings)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert KEK not in ended.stderr
