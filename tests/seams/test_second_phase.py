"""A second phase that only tests have: the aggregator asks, clients answer, and nothing else of
either knows what about."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fedperm.wire.aggregator import RoundReport, RoundState, SubmissionState
from fedperm.wire.events import EventKind, PhaseBegun
from tests.aggregator.parties import OPERATOR
from tests.client.federation import Federation, Home, drive
from tests.keyserver.server import MovingClock
from tests.seams.confirming import (
    CONFIRM,
    CONFIRMATION,
    asking_for_confirmations,
    clients_that_confirm,
    confirmation_of,
    confirmed_model,
)
from tests.seams.known_average import (
    INITIAL,
    NAMES,
    check_models,
    known_homes,
    known_run,
    run_to_its_end,
)

pytestmark = pytest.mark.anyio
NOTHING = "0" * 64


@pytest.fixture
def keeps() -> bool:
    return False


@pytest.fixture
def confirming(tmp_path: Path, keeps: bool) -> Iterator[Federation]:
    with asking_for_confirmations(keeps=keeps):
        federation = Federation(tmp_path, MovingClock())
        yield federation
        federation.close()


async def started(federation: Federation, rounds: int) -> list[Home]:
    run = known_run({}, rounds)
    await federation.start(INITIAL, run)
    return await known_homes(federation, run)


async def reports(federation: Federation) -> tuple[RoundReport, ...]:
    return (await federation.aggregator.api.rounds("demo", OPERATOR)).rounds


def confirmations(home: Home, number: int) -> list[bytes]:
    """As they left this client."""
    ending = f"/rounds/{number}/confirmations/{home.name}"
    return [
        request.content
        for request in home.to_aggregator.requests
        if request.method == "PUT" and request.url.path.endswith(ending)
    ]


async def test_clients_confirm_every_round_and_learn_the_plain_average(confirming: Federation):
    homes = await started(confirming, rounds=3)
    with clients_that_confirm():
        await run_to_its_end(confirming, homes)
    check_models(homes, rounds=3)
    for report in await reports(confirming):
        sent = [one for one in report.submissions if one.kind == CONFIRMATION.name]
        assert [one.client for one in sent] == list(NAMES)
        assert {one.state for one in sent} == {SubmissionState.VALID}
        assert (report.outcome.state, report.phase) == (RoundState.PUBLISHED, "")
        assert {one.state for one in report.updates} == {SubmissionState.INCLUDED}
    for home in homes:
        for record in home.summary.history:
            (body,) = confirmations(home, record.round)
            assert confirmed_model(body) == record.parameters_sha256


async def test_the_next_round_opens_when_the_last_phase_is_over(confirming: Federation):
    homes = await started(confirming, rounds=2)
    with clients_that_confirm():
        await run_to_its_end(confirming, homes)
    told = confirming.aggregator.events.of_run("demo", 0)
    steps = [
        EventKind.ROUND_OPENED,
        EventKind.ROUND_SEALED,
        EventKind.ROUND_PUBLISHED,
        EventKind.PHASE_BEGUN,
        EventKind.ROUND_CLOSED,
    ]
    happened = [(event.round, event.event) for event in told if event.event in steps]
    assert happened == [(number, step) for number in (1, 2) for step in steps]
    begun = [event.details for event in told if isinstance(event.details, PhaseBegun)]
    assert {(one.phase, one.collects, one.asked) for one in begun} == {
        (CONFIRM, CONFIRMATION.name, NAMES)
    }


async def test_a_confirmation_of_something_else_is_rejected_and_the_round_stays(
    confirming: Federation, monkeypatch: pytest.MonkeyPatch
):
    homes = await started(confirming, rounds=1)
    monkeypatch.setattr(
        "tests.seams.confirming.confirmation_of",
        lambda _aggregate, model, nonce: confirmation_of(NOTHING, model, nonce),
    )
    with clients_that_confirm():
        await run_to_its_end(confirming, homes)
    (report,) = await reports(confirming)
    assert report.outcome.state is RoundState.PUBLISHED
    sent = [one for one in report.submissions if one.kind == CONFIRMATION.name]
    assert {(one.state, one.reason) for one in sent} == {
        (SubmissionState.REJECTED, "another aggregate is confirmed")
    }
    check_models(homes, rounds=1)


async def test_who_does_not_confirm_is_waited_for_until_the_deadline_and_costs_no_round(
    confirming: Federation,
):
    homes = await started(confirming, rounds=2)
    with clients_that_confirm():
        with homes[0].client() as one, homes[1].client() as two, homes[2].client() as away:
            await drive(confirming, one, two, away, rounds=1)
            for _ in range(10):
                for client in (one, two):
                    await client.step()
                await confirming.tick()
            (report,) = await reports(confirming)
            assert (report.phase, report.collects) == (CONFIRM, CONFIRMATION.name)
            assert report.asked == NAMES
            assert {s.client for s in report.submissions if s.kind == CONFIRMATION.name} == {
                homes[0].name,
                homes[1].name,
            }
        confirming.clock.advance(report.deadline_at - confirming.clock.now())
        await run_to_its_end(confirming, homes)
    first, second = await reports(confirming)
    assert [one.outcome.state for one in (first, second)] == [RoundState.PUBLISHED] * 2
    assert second.opened_at >= first.deadline_at
    check_models(homes, rounds=2)


@pytest.mark.parametrize("keeps", [False, True])
async def test_a_phase_says_whether_what_it_collected_outlives_the_round(
    confirming: Federation, keeps: bool
):
    homes = await started(confirming, rounds=1)
    with clients_that_confirm():
        await run_to_its_end(confirming, homes)
    await confirming.tick()
    folder = confirming.aggregator.settings.state_directory
    kept = {path.parent.name for path in folder.rglob("ada.*.safetensors")}
    assert kept == ({CONFIRMATION.name} if keeps else set())
    again = confirming.aggregator.restarted()  # which sweeps what nobody needs
    assert {path.parent.name for path in folder.rglob("ada.*.safetensors")} == kept
    again.close()
