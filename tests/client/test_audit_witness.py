"""A client bears witness to the key server's audit log: it keeps what it was told, and compares."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import text

from fedperm.audit_chain import ChainEnd
from fedperm.audit_witness import Witness, check_witness
from fedperm.errors import UntrustedError
from fedperm.wire.digest import sha256_of
from fedperm.wire.key_server import KeyRequest, ReleasedKey, TokenRequest
from fedperm.wire.statements import AuditHead, SchemeSpec
from fedperm_cli.audit.log import VerifiedLog
from fedperm_client.audit_witness import AuditWitness
from fedperm_client.errors import StateError
from fedperm_client.identity import ClientIdentity, ClientKeys
from tests.keyserver.member import Member
from tests.keyserver.server import KEY_BITS, OPERATOR, MovingClock, Server

pytestmark = pytest.mark.anyio


class Place:
    """A key server that is stopped, copied, set back and started, and one client of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = MovingClock()
        self.server = self._start()
        keys = ClientKeys.kept_at(folder / "keys.json", Random(1))
        self.member = Member(self.server, self.clock)
        self.member.signing, self.member.sealing = keys.signing, keys.sealing
        self.identity: ClientIdentity
        self._keys = keys

    def _start(self) -> Server:
        return Server(self.folder / "keyserver", self.clock)

    async def enrol(self) -> None:
        wanted = KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS))
        await self.server.api.create_key("demo", wanted, OPERATOR)
        minted = await self.server.api.mint_token("demo", TokenRequest(), OPERATOR)
        self.identity = ClientIdentity(self._keys, await self.member.enrol(minted.token))

    def back_up(self) -> None:
        self.server.close()
        shutil.copytree(self.folder / "keyserver", self.folder / "old")
        self.start_again()

    def set_back(self) -> None:
        self.server.close()
        shutil.rmtree(self.folder / "keyserver")
        shutil.copytree(self.folder / "old", self.folder / "keyserver")
        self.start_again()

    def start_again(self) -> None:
        self.server = self.member.server = self._start()

    def witness(self, lost: str | None = None) -> AuditWitness:
        return AuditWitness(self.path, self.identity, lost)

    @property
    def path(self) -> Path:
        return self.folder / "audit-witness.json"

    @property
    def held(self) -> Witness:
        return Witness.model_validate_json(self.path.read_bytes())

    async def release(self, holds: int | None = None) -> ReleasedKey:
        return await self.server.api.release("demo", 1, await self.member.access(), holds)

    async def take(self, lost: str | None = None) -> ReleasedKey:
        witness = self.witness(lost)
        released = await self.release(witness.holds())
        witness.take(released)
        return released

    async def log(self) -> VerifiedLog:
        return VerifiedLog.of((await self.server.api.audit(OPERATOR)).entries)

    async def verify(self) -> None:
        log = await self.log()
        check_witness(self.held, log.entries, log.register, "its file")


@pytest.fixture
async def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    await place.enrol()
    yield place
    place.server.close()


async def test_the_newest_head_is_kept_and_is_in_the_log(place: Place):
    first = await place.take()
    second = await place.take()
    assert second.entry.number > first.entry.number
    assert place.held.newest.verified() == ChainEnd(second.entry.number, second.entry.hash)
    await place.server.api.mint_token("demo", TokenRequest(), OPERATOR)
    await place.verify()


async def test_a_log_that_was_set_back_is_noticed_and_the_proof_kept(place: Place):
    """Whether it is shorter than before, as long with other entries, or longer by now."""
    place.back_up()
    await place.take()
    before = await place.take()
    place.set_back()
    with pytest.raises(UntrustedError, match="rewritten or set back") as caught:
        await place.take()
    assert f"LOST_AUDIT_HEAD={before.entry.hash}" in caught.value.hint
    for _ in range(2):
        with pytest.raises(UntrustedError, match="rewritten or set back"):
            await place.take()
    held = place.held
    assert held.newest.claimed.hash == before.entry.hash
    numbers = [one.verified().number for one in held.contradicting]
    assert numbers == [before.entry.number - 1, before.entry.number, before.entry.number]
    with pytest.raises(UntrustedError, match="is not the one that client-0 was told of"):
        await place.verify()


async def test_a_log_that_is_shorter_than_what_a_witness_knows_fails_its_audit(place: Place):
    place.back_up()
    await place.take()
    place.set_back()
    with pytest.raises(UntrustedError, match="was told of entry"):
        await place.verify()


async def test_an_owner_accepts_a_restored_backup_by_name(place: Place):
    """Of that one head, and of no other; what was lost stays on the witness's disk."""
    place.back_up()
    before = (await place.take()).entry
    place.set_back()
    with pytest.raises(UntrustedError):
        await place.take(lost="f" * 64)
    place.set_back()
    after = (await place.take(lost=before.hash)).entry
    assert place.held.newest.claimed == ChainEnd(after.number, after.hash)
    assert [one.claimed.hash for one in place.held.lost] == [before.hash]
    place.set_back()
    with pytest.raises(UntrustedError):
        await place.take(lost=before.hash)


@pytest.mark.parametrize("which", ["entry", "head", "release"])
async def test_a_release_that_the_log_does_not_end_with_is_refused(place: Place, which: str):
    """Of another release, of another moment, or not what was recorded."""
    one, other = await place.release(), await place.release()
    with pytest.raises(UntrustedError, match="does not end with the release"):
        place.witness().take(one.model_copy(update={which: getattr(other, which)}))
    assert not place.path.exists()


async def test_an_entry_that_does_not_hash_to_its_hash_is_no_receipt(place: Place):
    """It says of another release what it should say of this one."""
    one, other = await place.release(), await place.release()
    details = other.entry.details | {"release_sha256": sha256_of(one.release.encode())}
    entry = other.entry.model_copy(update={"details": details})
    with pytest.raises(UntrustedError, match="was changed"):
        place.witness().take(one.model_copy(update={"entry": entry, "head": other.head}))


async def test_an_old_answer_is_not_taken_for_a_new_one(place: Place):
    """The log is longer after each release."""
    old = await place.take()
    with pytest.raises(UntrustedError, match="rewritten or set back"):
        place.witness().take(old.model_copy(update={"held": old.head}))


async def test_an_entry_of_something_else_is_no_receipt(place: Place):
    released = await place.release()
    (entry,) = [e for e in (await place.log()).entries if e.event == "client-enrolled"]
    head = AuditHead(number=entry.number, hash=entry.hash, iat=0)
    forged = {"entry": entry, "head": place.server.authority.sign(head)}
    with pytest.raises(UntrustedError, match="does not end with the release"):
        place.witness().take(released.model_copy(update=forged))
    assert released.entry.details["release_sha256"] == sha256_of(released.release.encode())


async def test_a_head_that_another_has_signed_is_refused(place: Place, tmp_path: Path):
    released = await place.release()
    stranger = Server(tmp_path / "stranger", place.clock)
    head = AuditHead(number=released.entry.number, hash=released.entry.hash, iat=0)
    forged = released.model_copy(update={"head": stranger.authority.sign(head)})
    with pytest.raises(UntrustedError, match="not signed by the expected key"):
        place.witness().take(forged)
    stranger.close()


async def test_a_witness_of_another_key_server_is_told_from_one_that_accuses(place: Place):
    await place.take()
    log = await place.log()
    log.register.identities.clear()
    with pytest.raises(UntrustedError, match="of another key server"):
        check_witness(place.held, log.entries, log.register, "its file")


async def test_a_damaged_file_is_refused_and_not_replaced(place: Place):
    place.path.write_text("{}")
    with pytest.raises(StateError, match="damaged"):
        await place.take()
    assert place.path.read_text() == "{}"


async def test_a_key_server_that_rewrites_its_log_and_its_marks_is_given_away(place: Place):
    """It can: it has the key. What it signed before it cannot take back."""
    await place.take()
    await place.take()
    log = await place.log()
    with place.server.database.engine.begin() as connection:
        last = {"number": log.end.number}
        connection.execute(text("DELETE FROM audit_entries WHERE number >= :number"), last)
    place.start_again()
    await place.release()
    with pytest.raises(UntrustedError, match="is not the one"):
        await place.verify()
