"""What nothing answers: collusion, last tokens of the revoked, old copies, time and memory."""

import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import gmpy2
import numpy as np
import pytest

from fedperm.audit_chain import ChainEnd, verify_chain
from fedperm.errors import BudgetError, UntrustedError
from fedperm.privacy.ledger import Charge
from fedperm.schemes.paillier.blinding import BlindingPool
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import SubmissionState
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.statements import SchemeSpec
from fedperm_cli.keys.audit import VerifiedLog
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import SecretKey
from fedperm_secret.schemes.paillier.storage import secret_key_to_phe
from tests.adversary.conftest import Enrol
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.aggregator.parties import Client
from tests.federation.wire_oracle import unshuffled
from tests.keyserver.member import Member
from tests.keyserver.server import KEY_BITS, OPERATOR, Server
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


@dataclass(frozen=True)
class Rolled:
    """A key server that was set back to before a token was used, and what its log had come to."""

    server: Server
    token: str
    end: ChainEnd


@pytest.fixture
async def rolled_back(folder: Path, clock) -> AsyncIterator[Rolled]:
    home, old = folder / "k", folder / "old"
    first = Server(home, clock)
    await first.api.create_key("demo", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    minted = await first.api.mint_token("demo", TokenRequest(), OPERATOR)
    first.close()
    shutil.copytree(home, old)
    used = Server(home, clock)
    await Member(used, clock).enrol(minted.token)
    end = verify_chain((await used.api.audit(OPERATOR)).entries)
    used.close()
    shutil.rmtree(home)
    shutil.copytree(old, home)
    restored = Server(home, clock)
    yield Rolled(restored, minted.token, end)
    restored.close()


async def test_not_covered_putting_back_the_key_servers_database(rolled_back: Rolled, clock):
    """A token is used a second time, by somebody else."""
    await Member(rolled_back.server, clock).enrol(rolled_back.token)
    assert verify_chain((await rolled_back.server.api.audit(OPERATOR)).entries) != rolled_back.end


async def test_detected_putting_back_the_key_servers_database_by_a_kept_end(rolled_back: Rolled):
    """Whatever is written after the old copy, the entry that was the last is not in it."""
    for _ in range(2):
        entries = tuple((await rolled_back.server.api.audit(OPERATOR)).entries)
        with pytest.raises(UntrustedError, match="does not hold the entry"):
            VerifiedLog(entries, verify_chain(entries)).check_holds(rolled_back.end.hash)
        await rolled_back.server.api.mint_token("demo", TokenRequest(), OPERATOR)


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
