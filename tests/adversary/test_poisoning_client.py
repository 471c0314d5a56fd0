"""An enrolled client that wants to move the average further than its share."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fedperm.errors import AggregateError
from fedperm.wire.aggregator import Measured, RoundReport, SubmissionState, TestMetrics
from fedperm_client.aggregate_checks import averaged
from fedperm_client.epoch_keys import EpochKey
from tests.adversary.ciphertexts import with_mask_times
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client, Prepared, bounded_by_hand, decrypted
from tests.aggregator.test_reports import REPORT

pytestmark = pytest.mark.anyio
CENTRE = 128


def everywhere(bench: Bench, value: int) -> Any:
    """One coded value at every place; 127.5 is no update."""
    plan = bench.document.content.plan
    return np.full((plan.geometry.windows, plan.geometry.k1), value, plan.fixed_point.dtype)


async def open_round(bench: Bench, **changes: Any) -> None:
    await bench.create(**changes)
    await bench.join(*bench.clients)
    await bench.aggregator.tick()


async def settle(bench: Bench, attack: Prepared, honest: int = CENTRE) -> RoundReport:
    """The first client's attack beside two others that send the same value everywhere."""
    ada, *others = bench.clients
    await bench.upload(ada, 1, attack)
    for client in others:
        await bench.upload(client, 1, bench.prepare(client, 1, coded=everywhere(bench, honest)))
    await bench.aggregator.tick()
    return await bench.api.round_report(bench.run, 1, OPERATOR)


async def attackers_part(bench: Bench, honest: int = CENTRE) -> Any:
    """What is in the published sum beside the others' values."""
    body = await bench.api.aggregate(bench.run, 1, OPERATOR)
    total = decrypted(body, bench.document.content, bench.pair())
    return total - 2 * bounded_by_hand(everywhere(bench, honest), bench.document.content)


def norm_of(part: Any) -> float:
    return float(np.linalg.norm((part - 127.5) / 255))


async def receive(bench: Bench) -> Any:
    """As an honest client takes the round's average."""
    body = await bench.api.aggregate(bench.run, 1, OPERATOR)
    outcome = await bench.api.outcome(bench.run, 1, OPERATOR)
    key = EpochKey(1, bench.pair(), bench.document.content, bench.randomness)
    return averaged(body, outcome, bench.document.content, key, min_contributors=2)


def report_of(report: RoundReport, client: str) -> Any:
    return next(update for update in report.updates if update.client == client)


@pytest.mark.parametrize("value", [255, 0], ids=["largest", "zeros"])
async def test_blocked_sending_extreme_values(opened: Bench, clients: list[Client], value: int):
    """All zeros too, which the paper's own bound lets pass: they decode to -C everywhere."""
    attack = opened.prepare(clients[0], 1, coded=everywhere(opened, value))
    await settle(opened, attack)
    part = await attackers_part(opened)
    assert norm_of(everywhere(opened, value).astype(float)) > 1.7
    assert norm_of(part) <= 1.0


async def test_blocked_having_more_than_its_share(opened: Bench, clients: list[Client]):
    """One client of three moves the mean by a third of the bound, and not further."""
    await settle(opened, opened.prepare(clients[0], 1, coded=everywhere(opened, 255)))
    mean = await receive(opened) / 2  # from [-C, C] with C = 1 to the bound's units
    others = 2 * (128 - 127.5) / 255 / 3
    assert np.linalg.norm(mean - others) <= 1.0 / 3 + 1e-9


async def test_detected_sending_large_values(opened: Bench, clients: list[Client]):
    """The operator sees who had to be scaled, and by how much."""
    report = await settle(opened, opened.prepare(clients[0], 1, coded=everywhere(opened, 255)))
    ada, ben = report_of(report, "ada"), report_of(report, "ben")
    assert (ada.bounded, ben.bounded) == (True, False)
    assert ada.norm_before > 1.7
    assert ada.norm_after <= 1.0


async def test_not_covered_a_mask_of_three(bench: Bench, clients: list[Client]):
    """Three where a one belongs: the bound sees a quiet update, the sum has three times its value,
    and no receiver finds anything wrong."""
    await open_round(bench)
    quiet = bench.prepare(clients[0], 1, coded=everywhere(bench, CENTRE))
    report = await settle(bench, scaled(bench, clients[0], quiet, 3))
    assert report_of(report, "ada").norm_before < 0.01
    assert not report_of(report, "ada").bounded
    assert norm_of(await attackers_part(bench)) > 1.4
    await receive(bench)


def scaled(
    bench: Bench, client: Client, prepared: Prepared, factor: int, column: int = 0
) -> Prepared:
    key, plan = bench.pair().public_key, bench.document.content.plan
    body = with_mask_times(factor, column, prepared.body, plan, key)
    return replace(prepared, body=body, manifest=client.manifest(bench.document, 1, 1, body))


async def test_detected_a_mask_that_makes_an_impossible_sum(bench: Bench, clients: list[Client]):
    """A thousand where a one belongs, and a slot with more than three clients can add: all
    receivers stop. So does the run."""
    await open_round(bench, norm_bound={"limit": 5.0})
    attack = bench.prepare(clients[0], 1, coded=everywhere(bench, 1))
    report = await settle(bench, scaled(bench, clients[0], attack, 1000), honest=10)
    assert report_of(report, "ada").state is SubmissionState.INCLUDED
    with pytest.raises(AggregateError, match="more than its contributors"):
        await receive(bench)


async def test_not_covered_a_mask_of_a_thousand_that_carries(bench: Bench, clients: list[Client]):
    """1000 + 2 * 128 overflows a slot of 10 bits into the next: wrong numbers, all possible."""
    await open_round(bench, norm_bound={"limit": 5.0})
    assert bench.document.content.plan.layout.packing.slot_bits == 10
    coded = everywhere(bench, 1)
    coded[:, -1] = 2  # the top slot: what is carried out of it would be noticed
    attack = bench.prepare(clients[0], 1, coded=coded)
    below = attack.shuffled[0].tolist().index(1)
    await settle(bench, scaled(bench, clients[0], attack, 1000, below))
    assert not np.array_equal(await attackers_part(bench), coded)
    await receive(bench)


async def test_not_covered_poisoning_within_the_bound(opened: Bench, clients: list[Client]):
    """The whole length of the bound in a direction of the attacker's choice."""
    coded = everywhere(opened, CENTRE)
    coded[0, 0], coded[1, 1] = 255, 0
    report = await settle(opened, opened.prepare(clients[0], 1, coded=coded))
    assert not report_of(report, "ada").bounded
    assert np.array_equal(await attackers_part(opened), coded)
    assert norm_of(coded.astype(float)) > 0.7


async def test_not_covered_sending_no_noise(bench: Bench, clients: list[Client]):
    """The run has noise of scale 0.5; an update without any is taken like every other."""
    await open_round(bench, noise={"clip": 1.0, "laplace_scale": 0.5}, norm_bound={"limit": 9.0})
    plan = bench.document.content.plan
    nothing = np.full((plan.geometry.windows, plan.geometry.k1), plan.fixed_point.top // 2)
    coded = nothing.astype(plan.fixed_point.dtype)
    await bench.upload(clients[0], 1, bench.prepare(clients[0], 1, coded=coded))
    await bench.contribute(1, *clients[1:])
    await bench.aggregator.tick()
    report = await bench.api.round_report(bench.run, 1, OPERATOR)
    assert report_of(report, "ada").state is SubmissionState.INCLUDED
    assert report_of(report, "ada").reason == ""


async def test_not_covered_lying_about_the_accuracy(opened: Bench, clients: list[Client]):
    """What the operator reads of a model's accuracy is each client's word."""
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    measured = Measured(test=TestMetrics(accuracy=1.0, loss=0.0))
    lie = REPORT.model_copy(update={"measured": measured})
    token = opened.server.token(clients[0])
    await opened.api.report(opened.run, 1, "ada", lie, token)
    report = await opened.api.round_report(opened.run, 1, OPERATOR)
    assert [named.report.test.accuracy for named in report.reports] == [1.0]
