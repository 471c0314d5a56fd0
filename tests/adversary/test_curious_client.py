"""An enrolled client that does its work as it should, and looks at the sums that it decrypts."""

from pathlib import Path
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from fedperm.aggregate import average_update
from fedperm.errors import RefusedError
from fedperm.wire.aggregator import RoundState
from fedperm_client.errors import CeilingError
from fedperm_secret.schemes.paillier.keys import SecretKey
from tests.aggregator.bench import Bench
from tests.aggregator.parties import Client
from tests.client.documents import document, rounds
from tests.client.federation import Federation, drive
from tests.core.federation import federate, random_values

pytestmark = pytest.mark.anyio
PLAN = document(noise={"clip": 0.1, "laplace_scale": 0.0}, rounds=rounds(clients_per_round=5)).plan
STOCK = {"min_contributors": 3}
"""What a client asks for by default; tests of other things ask for two."""


def drawn(count: int) -> list[NDArray[np.int64]]:
    """Updates of so many clients, 5 windows of 130: coded, with their noise, in their order."""
    randomness = Random(4)
    return [random_values(PLAN, randomness).astype(np.int64) for _ in range(count)]


def sum_of(updates: list[NDArray[np.int64]], key: SecretKey, folder: Path) -> NDArray[np.int64]:
    """As every client of the round decrypts it."""
    coded = [update.astype(PLAN.fixed_point.dtype) for update in updates]
    return federate(coded, PLAN, key, folder, Random(5))


async def test_blocked_waiting_for_a_round_of_two(federation: Federation):
    """The other client does not take part in a run whose sums may be of two."""
    await federation.start_lines(rounds=rounds())
    (ada,) = await federation.line_homes("ada", **STOCK)
    refused = pytest.raises(CeilingError, match=r"2 client\(s\), at least 3 .*MIN_CONTRIBUTORS")
    with ada.client() as one, refused:
        await drive(federation, one)
    assert ada.charges == 0


async def test_blocked_reading_a_round_that_too_few_answered(bench: Bench, clients: list[Client]):
    """Of three that a sum needs, one stays away: there is no sum, and the uploads are gone."""
    await bench.create(rounds={"min_contributors": 3})
    await bench.join(*clients)
    await bench.aggregator.tick()
    curious, victim, _ = clients
    await bench.contribute(1, curious, victim)
    for seconds in (61, 21):
        bench.clock.advance(seconds)
        await bench.aggregator.tick()
    assert await bench.state(1) is RoundState.ABORTED
    with pytest.raises(RefusedError) as refused:
        await bench.api.aggregate(bench.run, 1, bench.server.token(curious))
    assert refused.value.status == 410
    kept = bench.aggregator.settings.state_directory.rglob("*")
    tail = bench.sent[1, victim.name].body[-64:]
    assert not any(tail in path.read_bytes() for path in kept if path.is_file())


def test_not_covered_subtracting_itself_in_a_round_of_two(small_key: SecretKey, tmp_path: Path):
    """Where both owners asked for no more: all 650 values of the other, exact and in order."""
    own, others = drawn(2)
    left = sum_of([own, others], small_key, tmp_path) - own
    assert np.array_equal(left, others)
    read = average_update(left, 1, PLAN, clip=0.1)
    assert np.array_equal(read, average_update(others, 1, PLAN, clip=0.1))


@pytest.mark.parametrize("count", [3, 5])
def test_not_covered_being_all_but_one_of_a_round(small_key: SecretKey, tmp_path: Path, count: int):
    """Colluding, or one person with a pool token: whatever the minimum is."""
    *own, victims = drawn(count)
    left = sum_of([*own, victims], small_key, tmp_path) - sum(own)
    assert np.array_equal(left, victims)


@pytest.mark.parametrize("count", [3, 5])
def test_not_covered_learning_the_sum_of_all_others(
    small_key: SecretKey, tmp_path: Path, count: int
):
    """One of n has the sum of n - 1, in order: with each update of them, were they independent, it
    correlates by 1 / sqrt(n - 1)."""
    own, *others = drawn(count)
    left = sum_of([own, *others], small_key, tmp_path) - own
    assert np.array_equal(left, sum(others))
    for other in others:
        found = np.corrcoef(left.ravel(), other.ravel())[0, 1]
        assert found == pytest.approx(1 / np.sqrt(count - 1), abs=0.1)
