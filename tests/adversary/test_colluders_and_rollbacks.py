"""What nothing answers: collusion, last tokens of the revoked, old copies, time and memory."""

import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import gmpy2
import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import text

from fedperm.audit_witness import Witness, check_witness
from fedperm.errors import BudgetError, UntrustedError
from fedperm.privacy.ledger import Charge
from fedperm.schemes.paillier.blinding import BlindingPool
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import SubmissionState
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.statements import SchemeSpec
from fedperm_cli.audit.log import VerifiedLog
from fedperm_client.audit_witness import AuditWitness
from fedperm_client.identity import ClientIdentity, ClientKeys
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import SecretKey
from fedperm_secret.schemes.paillier.storage import secret_key_to_phe
from tests.adversary.conftest import Enrol
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.aggregator.parties import Client
from tests.client.test_aggregate_checks import PLAN
from tests.core.federation import decrypted_sum, folded, random_values, upload
from tests.federation.wire_oracle import unshuffled
from tests.keyserver.member import Member
from tests.keyserver.server import KEY_BITS, OPERATOR, MovingClock, Server
from tests.leaks.scanner import Scanner, reason_not_to_read
from tests.leaks.secrets_of_a_run import of_secret_key
from tests.ledger.test_ledger import DIGEST, LOUD, reopen, start

pytestmark = pytest.mark.anyio


async def test_not_covered_unshuffling_anothers_update_with_the_shared_key(
    opened: Bench, clients: list[Client]
):
    """The aggregator hands Ada's upload to Ben, who has the key that all clients have."""
    await opened.contribute(1, clients[0])
    upload = opened.sent[1, "ada"].body
    bens_key = secret_key_to_phe(opened.pair(), SECRET_KEY_ACCESS)
    read = unshuffled(upload, opened.document.content, bens_key)
    assert np.array_equal(read, opened.sent[1, "ada"].coded)


def test_not_covered_unshuffling_everybody_by_a_plain_sum(small_key: SecretKey, tmp_path: Path):
    """The aggregator has the uploads of three clients, and from somebody the sum of the round: no
    key. A column has 5 windows of 10 bits, so that one triple of columns adds up to each column of
    the sum: the order of all 3 * 130 columns is out."""
    randomness = Random(6)
    coded = [random_values(PLAN, randomness) for _ in range(3)]
    source = SecretBlinding(small_key)
    sent = [upload(c, PLAN, source, tmp_path / str(u), randomness) for u, c in enumerate(coded)]
    total = decrypted_sum(folded(sent, PLAN, small_key.public_key), PLAN, small_key)
    shuffled = [update.values for update in sent]
    for original, seen, found in zip(coded, shuffled, placed(total, shuffled), strict=True):
        assert not np.array_equal(seen, original)
        assert np.array_equal(seen[:, found], original)


def placed(total: NDArray[np.int64], shuffled: list[NDArray[Any]]) -> list[list[int]]:
    """For each of three clients, which of its columns belongs to each column of the sum."""
    wanted, one, other, third = map(as_numbers, (total, *shuffled))
    pairs = one[:, None] + other[None, :]
    places: list[list[int]] = [[], [], []]
    for column in wanted:
        ((i, j),) = np.argwhere(np.isin(column - pairs, third))
        (k,) = np.flatnonzero(third == column - pairs[i, j])
        for found, place in zip(places, (i, j, k), strict=True):
            found.append(int(place))
    return places


def as_numbers(columns: NDArray[Any]) -> NDArray[np.int64]:
    """Each column as one number, with room for sums of three: 12 bits a window."""
    weights = np.array([1 << (12 * window) for window in range(len(columns))], np.int64)
    return weights @ columns.astype(np.int64)


async def test_not_covered_uploading_and_reading_after_being_excluded(
    opened: Bench, clients: list[Client]
):
    """With a token that was granted before: to the open round; from the next on it is not asked."""
    last = opened.server.token(clients[0])
    await opened.api.exclude(opened.run, "ada", RUN_OPERATOR)
    prepared = opened.prepare(clients[0], 1)
    receipt = await opened.api.submit(
        UPDATE, opened.run, 1, "ada", prepared.body, prepared.manifest, last
    )
    assert receipt.state is SubmissionState.STORED
    await opened.contribute(1, *clients[1:])
    await opened.aggregator.tick()
    assert await opened.api.aggregate(opened.run, 1, last)
    assert "ada" not in (await opened.api.outcome(opened.run, 2, RUN_OPERATOR)).selected


async def test_not_covered_keeping_the_keys_of_old_epochs(key_server: Server, enrolled: Enrol):
    """A revoked client still reads what was published under them; the new epoch it does not get."""
    member = await enrolled()
    kept = await member.secret_key(1)
    await key_server.api.revoke_client("demo", member.name, OPERATOR)
    assert kept.public_key.key_id != (await key_server.api.key("demo")).key_id
    assert int((await member.record(1)).public["n"], 16) == kept.public_key.n


def test_not_covered_putting_back_an_old_ledger(tmp_path: Path):
    """The whole budget is spent twice."""
    ledger = start(tmp_path)
    shutil.copy(ledger.path, tmp_path / "old")
    ledger.charge(Charge("run", 1, LOUD, DIGEST))
    with pytest.raises(BudgetError):
        ledger.charge(Charge("run", 2, LOUD, DIGEST))
    shutil.copy(tmp_path / "old", ledger.path)
    reopen(ledger).charge(Charge("run", 2, LOUD, DIGEST))


class Place:
    """A key server that is set back to before a token was used, and one client of it."""

    def __init__(self, folder: Path, clock: MovingClock) -> None:
        self.folder, self.clock = folder, clock
        self._path = folder / "audit-witness.json"
        self._keys = ClientKeys.kept_at(folder / "keys.json", Random(1))
        self.server = Server(folder / "k", clock)

    async def use_a_token(self) -> None:
        wanted = KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS))
        await self.server.api.create_key("demo", wanted, OPERATOR)
        minted = await self.server.api.mint_token("demo", TokenRequest(uses=2), OPERATOR)
        self.token = minted.token
        self.server.close()
        shutil.copytree(self.folder / "k", self.folder / "old")
        self.server = Server(self.folder / "k", self.clock)
        self.member = Member(self.server, self.clock)
        self.member.signing, self.member.sealing = self._keys.signing, self._keys.sealing
        self.identity = ClientIdentity(self._keys, await self.member.enrol(minted.token))
        await self.take_key()
        self.end = (await self.log()).end

    async def take_key(self) -> None:
        witness = AuditWitness(self._path, self.identity, lost=None)
        token = await self.member.access()
        witness.take(await self.server.api.release("demo", 1, token, witness.holds()))

    def set_back(self) -> None:
        self.server.close()
        shutil.rmtree(self.folder / "k")
        shutil.copytree(self.folder / "old", self.folder / "k")
        self.server = self.member.server = Server(self.folder / "k", self.clock)

    async def log(self) -> VerifiedLog:
        return VerifiedLog.of((await self.server.api.audit(OPERATOR)).entries)

    async def verify_with_witness(self) -> None:
        witness = Witness.model_validate_json(self._path.read_bytes())
        log = await self.log()
        check_witness(witness, log.entries, log.register, "ada.json")


@pytest.fixture
async def place(folder: Path, clock) -> AsyncIterator[Place]:
    place = Place(folder, clock)
    await place.use_a_token()
    yield place
    place.server.close()


async def test_detected_putting_back_the_key_servers_database_by_a_client(place: Place, clock):
    """Somebody else uses the token again, and much happens; whoever was enrolled before is told a
    log that does not hold what it was told first."""
    place.set_back()
    await Member(place.server, clock).enrol(place.token)
    await place.member.enrol(place.token)
    for _ in range(2):
        with pytest.raises(UntrustedError, match="rewritten or set back"):
            await place.take_key()


async def test_detected_putting_back_the_key_servers_database_by_a_witness(place: Place):
    """However far the log has grown since."""
    await place.verify_with_witness()
    place.set_back()
    with pytest.raises(UntrustedError, match="was told of entry"):
        await place.verify_with_witness()
    for _ in range(3):
        await place.server.api.mint_token("demo", TokenRequest(), OPERATOR)
    with pytest.raises(UntrustedError, match="is not the one that client-0 was told of"):
        await place.verify_with_witness()


async def test_detected_putting_back_the_key_servers_database_by_a_kept_end(place: Place):
    """Whatever is written after the old copy, the entry that was the last is not in it."""
    place.set_back()
    for _ in range(2):
        with pytest.raises(UntrustedError, match="does not hold the entry"):
            (await place.log()).check_holds(place.end.hash)
        await place.server.api.mint_token("demo", TokenRequest(), OPERATOR)


async def test_detected_a_key_server_that_rewrites_its_log(place: Place):
    """It has the key of the marks: the last entry goes, and another one comes in its place."""
    with place.server.database.engine.begin() as connection:
        last = {"number": place.end.number}
        connection.execute(text("DELETE FROM audit_entries WHERE number = :number"), last)
    place.server.close()
    place.server = Server(place.folder / "k", place.clock)
    await place.server.api.mint_token("demo", TokenRequest(), OPERATOR)
    with pytest.raises(UntrustedError, match="is not the one"):
        await place.verify_with_witness()


async def test_not_covered_putting_back_the_aggregators_state(
    opened: Bench, clients: list[Client], folder: Path
):
    """An acknowledged update is gone, and other bytes are taken in its place."""
    state = opened.aggregator.settings.state_directory
    opened.aggregator.close()
    shutil.copytree(state, folder / "old")
    opened.aggregator = Aggregator(folder, opened.clock)
    await opened.contribute(1, clients[0])
    first = opened.sent[1, clients[0].name].body
    opened.aggregator.close()
    shutil.rmtree(state)
    shutil.copytree(folder / "old", state)
    opened.aggregator = Aggregator(folder, opened.clock)
    opened.aggregator.services.background.start()
    await opened.contribute(1, clients[0])
    assert opened.sent[1, clients[0].name].body != first
    opened.aggregator.close()


class Chosen(Random):
    """Draws the number that it is told."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self._share = share

    def randrange(self, stop: int) -> int:  # type: ignore[override]
        return int(stop * self._share)


def steps(blinding: SecretBlinding, share: float) -> int:
    """Lines that a draw executes: what a clock measures, without the noise of the machine."""
    lines = 0

    def count(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        blinding.draw(Chosen(share))
    finally:
        sys.settrace(before)
    return lines


def test_not_covered_reading_secret_exponents_from_the_clock(small_key: SecretKey):
    """A power of 0 takes no multiplication, one of the middle takes one for each digit."""
    blinding = SecretBlinding(small_key)
    assert steps(blinding, 0.0) < steps(blinding, 0.7)


def test_not_covered_reusing_blinding_factors_of_a_restored_snapshot(small_key: SecretKey):
    """Two clients from one picture of memory: what each encrypts tells the difference of both."""
    snapshot = [BlindingPool(SecretBlinding(small_key), Random(5)) for _ in range(2)]
    key = small_key.public_key
    one, other = (
        key.encrypt(m, pool.take(1)[0]) for m, pool in zip((17, 4), snapshot, strict=True)
    )
    ratio = one * gmpy2.invert(other, key.n_squared) % key.n_squared
    assert ratio == key.message_factor(17 - 4)


HOLDER = """
import sys, time
from gmpy2 import mpz
from fedperm_secret.schemes.paillier.decryption import Decryptor
from fedperm_secret.schemes.paillier.keys import SecretKey
p, q = (mpz(int(line)) for line in sys.stdin.read().split())
held = Decryptor(SecretKey(p, q, insecure_for_tests=True))
print("ready", flush=True)
time.sleep(60)
"""


def test_not_covered_reading_the_memory_of_a_client(small_key: SecretKey):
    """Whoever may debug it has the key; so has a dump of its memory."""
    factors = "\n".join(map(str, small_key.factors(SECRET_KEY_ACCESS))).encode()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as client:
        try:
            client.stdin.write(factors)
            client.stdin.close()
            assert client.stdout.readline() == b"ready\n"
            if reason := reason_not_to_read(client.pid):
                pytest.skip(reason)
            found = Scanner(of_secret_key(small_key, "it")).process(client.pid)
        finally:
            client.kill()
    assert {"p of it", "q of it", "p^2 of it", "1/p mod q of it"} <= found.secrets
