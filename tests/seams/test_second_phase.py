"""A second phase that only tests have: the aggregator asks, clients answer, and nothing else of
either knows what about."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from fedperm.errors import ParameterError, UnreachableError
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import RoundReport, RoundState, SubmissionState
from fedperm.wire.events import EventKind, PhaseBegun
from fedperm_aggregator.rounds.phases import PHASES, CollectingPhase, phases_of
from tests.aggregator.parties import OPERATOR
from tests.client.cut_line import request_of
from tests.client.federation import Federation, Home, drive
from tests.keyserver.server import MovingClock
from tests.seams.confirming import (
    AFTER_PUBLICATION,
    BEFORE_PUBLICATION,
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
def phase() -> CollectingPhase:
    return AFTER_PUBLICATION


@pytest.fixture
def confirming(tmp_path: Path, phase: CollectingPhase) -> Iterator[Federation]:
    with asking_for_confirmations(phase):
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


@pytest.mark.parametrize("phase", [AFTER_PUBLICATION, replace(AFTER_PUBLICATION, keeps=True)])
async def test_a_phase_says_whether_what_it_collected_outlives_the_round(
    confirming: Federation, phase: CollectingPhase
):
    homes = await started(confirming, rounds=1)
    with clients_that_confirm():
        await run_to_its_end(confirming, homes)
    await confirming.tick()
    folder = confirming.aggregator.settings.state_directory
    kept = {path.parent.name for path in folder.rglob("ada.*.safetensors")}
    assert kept == ({CONFIRMATION.name} if phase.keeps else set())
    again = confirming.aggregator.restarted()  # which sweeps what nobody needs
    assert {path.parent.name for path in folder.rglob("ada.*.safetensors")} == kept
    again.close()


@pytest.mark.parametrize("phase", [BEFORE_PUBLICATION])
async def test_a_phase_before_publication_sees_the_sum_and_publishes_it(confirming: Federation):
    homes = await started(confirming, rounds=2)
    with clients_that_confirm():
        await run_to_its_end(confirming, homes)
    check_models(homes, rounds=2)
    told = confirming.aggregator.events.of_run("demo", 0)
    steps = [EventKind.ROUND_SEALED, EventKind.PHASE_BEGUN, EventKind.ROUND_PUBLISHED]
    happened = [(event.round, event.event) for event in told if event.event in steps]
    assert happened == [(number, step) for number in (1, 2) for step in steps]


@pytest.mark.parametrize("phase", [BEFORE_PUBLICATION])
async def test_a_phase_before_publication_that_fails_aborts_the_round_and_its_sum_is_gone(
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
    assert (report.outcome.state, report.outcome.aggregate) == (RoundState.ABORTED, None)
    assert report.outcome.reason == (
        "0 of 3 selected clients sent a valid confirmation, 2 are needed"
    )
    assert {one.state for one in report.updates} == {SubmissionState.DROPPED}
    confirming.aggregator.restarted().close()
    folder = confirming.aggregator.settings.state_directory
    assert not list(folder.rglob("aggregate.*"))


async def test_a_crash_of_the_aggregator_in_the_phase_loses_no_confirmation(
    confirming: Federation,
):
    """Nor one whose answer was lost; and what comes again when the round is closed is welcome."""
    homes = await started(confirming, rounds=1)
    ada, *others = homes
    ada.to_aggregator.after.append(request_of("PUT", "/rounds/1/confirmations/ada"))
    with clients_that_confirm():
        with ExitStack() as living, pytest.raises(UnreachableError):
            await drive(confirming, *(living.enter_context(home.client()) for home in homes))
        crashed, confirming.aggregator = confirming.aggregator, confirming.aggregator.restarted()
        for home in homes:
            home.to_aggregator.reroute(confirming.aggregator.app)
        await run_to_its_end(confirming, homes)
    crashed.close()
    check_models(homes, rounds=1)
    (report,) = await reports(confirming)
    sent = {one.client: one.state for one in report.submissions if one.kind == CONFIRMATION.name}
    assert sent == dict.fromkeys(NAMES, SubmissionState.VALID)
    (again,) = [
        request
        for request in others[0].to_aggregator.requests
        if request.url.path.endswith("/confirmations/ben") and request.method == "PUT"
    ]
    answer = await others[0].to_aggregator.handle_async_request(again)
    assert answer.status_code == 200
    folder = confirming.aggregator.settings.state_directory
    assert not list(folder.rglob("ben.*.safetensors"))


async def test_a_stop_lets_the_last_phase_end(confirming: Federation):
    homes = await started(confirming, rounds=2)
    api = confirming.aggregator.api
    with clients_that_confirm(), ExitStack() as living:
        clients = [living.enter_context(home.client()) for home in homes]
        await drive(confirming, *clients, rounds=1)
        await api.stop("demo", OPERATOR)
        for _ in range(10):
            for client in clients:
                await client.step()
            await confirming.tick()
        (report,) = await reports(confirming)
        assert report.phase == ""
        assert {one.state for one in report.submissions} == {
            SubmissionState.INCLUDED,
            SubmissionState.VALID,
        }
        await api.resume("demo", OPERATOR)
        await drive(confirming, *clients)
    check_models(homes, rounds=2)


@pytest.mark.parametrize(
    "wrong",
    [
        replace(AFTER_PUBLICATION, follows="vote"),
        replace(AFTER_PUBLICATION, follows="collect"),
        replace(AFTER_PUBLICATION, collects=UPDATE),
    ],
    ids=["follows nothing", "follows what another follows", "collects what another collects"],
)
def test_phases_that_are_no_sequence_are_refused(wrong: CollectingPhase):
    with (
        PHASES.registered(CONFIRM, wrong),
        pytest.raises(ParameterError, match="collect, fold, confirm are no sequence"),
    ):
        phases_of(known_run({}, rounds=1))
