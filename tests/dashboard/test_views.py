"""What is shown, from what is known: standings, progress, privacy."""

from dataclasses import replace

import pytest

from fedperm.dashboard.presenter import (
    Fold,
    client_view,
    privacy_view,
    progress,
    standing,
    summarise,
)
from fedperm.dashboard.reading import ReadRound
from fedperm.dashboard.views import Standing
from fedperm.privacy.events import Rounds
from fedperm.privacy.record_level import RecordGuarantee
from fedperm.privacy.registry import DEFAULT
from fedperm.privacy.release import event_of, noise_of, release_of
from fedperm.privacy.report import privacy_report
from fedperm.wire.aggregator import (
    AggregatorSeconds,
    ParticipantStatus,
    Phase,
    RoundOutcome,
    RoundReport,
    RoundState,
    RunState,
    RunStatus,
    SubmissionReport,
    SubmissionState,
)
from fedperm.wire.statements import UPDATE_KIND
from tests.dashboard.documents import document

NOW = 100.0


def update(state: SubmissionState, client: str = "ada", reason: str = "") -> SubmissionReport:
    return SubmissionReport(
        kind=UPDATE_KIND,
        client=client,
        state=state,
        reason=reason,
        size=10,
        received_at=1.0,
        norm_before=None,
        norm_after=None,
        bounded=None,
    )


def report(
    *updates: SubmissionReport, state: RoundState = RoundState.OPEN, deadline_at=200.0, extensions=0
) -> RoundReport:
    return RoundReport(
        outcome=RoundOutcome(
            round=3,
            state=state,
            epoch=1,
            selected=("ada", "ben"),
            included=(),
            aggregate=None,
            reason="too few",
        ),
        phase="collect" if state is RoundState.OPEN else "",
        collects=UPDATE_KIND if state is RoundState.OPEN else "",
        asked=("ada", "ben"),
        opened_at=1.0,
        deadline_at=deadline_at,
        extensions=extensions,
        sealed_at=None,
        settled_at=None,
        submissions=updates,
        reports=(),
        seconds=AggregatorSeconds(
            open=0, fold=0, validation_cpu=0, folding_cpu=0, rerandomising_cpu=0
        ),
    )


def who(client: str = "ada", *, excluded: bool = False) -> ParticipantStatus:
    return ParticipantStatus(
        client=client,
        joined_at=0.0,
        last_seen_at=0.0,
        online=True,
        phase=Phase.TRAINING,
        round=3,
        excluded=excluded,
    )


@pytest.mark.parametrize(
    ("newest", "expected"),
    [
        (None, Standing.NOT_ASKED),
        (report(), Standing.AWAITED),
        (report(deadline_at=NOW), Standing.AWAITED),
        (report(deadline_at=NOW - 1), Standing.LATE),
        (report(extensions=1), Standing.LATE),
        (report(state=RoundState.SEALED), Standing.MISSED),
        (report(state=RoundState.PUBLISHED), Standing.MISSED),
        (report(update(SubmissionState.STORED)), Standing.UPLOADED),
        (report(update(SubmissionState.VALID)), Standing.CHECKED),
        (report(update(SubmissionState.REJECTED)), Standing.REJECTED),
        (report(update(SubmissionState.INCLUDED)), Standing.INCLUDED),
        (report(update(SubmissionState.DROPPED)), Standing.DROPPED),
    ],
)
def test_where_a_client_is(newest: RoundReport | None, expected: Standing):
    assert standing(who(), newest, NOW) is expected


def test_a_later_phase_is_told_by_what_it_collects():
    sent = update(SubmissionState.VALID).model_copy(update={"kind": "confirmation"})
    newest = report(sent, state=RoundState.PUBLISHED).model_copy(
        update={"phase": "confirm", "collects": "confirmation"}
    )
    told = progress(status(RunState.RUNNING), newest, None)
    assert told.words == "Collecting confirmations: 1 of 2 received, 1 checked"


def test_who_was_not_selected_or_was_excluded():
    assert standing(who("eve"), report(), NOW) is Standing.NOT_ASKED
    assert standing(who(excluded=True), report(), NOW) is Standing.EXCLUDED
    counted = report(update(SubmissionState.INCLUDED))
    assert standing(who(excluded=True), counted, NOW) is Standing.INCLUDED


def test_a_rejected_client_is_shown_with_the_reason():
    newest = report(update(SubmissionState.REJECTED, reason="a value out of range"))
    assert client_view(who(), newest, NOW).reason == "a value out of range"
    assert client_view(who("ben"), newest, NOW).reason == ""


def test_who_was_asked_and_is_not_in_the_sum():
    rejected = update(SubmissionState.REJECTED, reason="a value out of range")
    told = {
        state: [(t.client, t.standing, t.reason) for t in summarise(ReadRound(seen)).troubles]
        for state in RoundState
        for seen in [report(rejected, state=state)]
    }
    why = ("ada", Standing.REJECTED, "a value out of range")
    missed = ("ben", Standing.MISSED, "")
    assert told.pop(RoundState.OPEN) == [why]
    assert all(troubles == [why, missed] for troubles in told.values())


def test_who_was_dropped_is_named_if_it_is_known_why():
    """With an aborted round all are, and the round says why."""
    aside = report(update(SubmissionState.DROPPED, reason="its worker was lost"))
    (trouble,) = summarise(ReadRound(aside)).troubles
    assert (trouble.standing, trouble.reason) == (Standing.DROPPED, "its worker was lost")
    assert summarise(ReadRound(report(update(SubmissionState.DROPPED)))).troubles == ()


def status(state: RunState = RunState.RUNNING, reason: str = "") -> RunStatus:
    return RunStatus(
        run="demo",
        document="0" * 64,
        state=state,
        reason=reason,
        round=3,
        rounds=5,
        epoch=1,
        participants=2,
        created_at=0.0,
    )


def test_progress_counts_what_was_checked():
    newest = report(update(SubmissionState.VALID), update(SubmissionState.STORED, "ben"))
    seen = progress(status(), newest, None)
    assert (seen.name, seen.done, seen.total) == ("collecting", 1, 2)
    assert seen.words == "Collecting updates: 2 of 2 received, 1 checked"


def test_progress_of_a_fold_is_that_of_its_own_round():
    newest = report(update(SubmissionState.VALID), state=RoundState.SEALED)
    assert progress(status(), newest, Fold(2, "fold", 7, 9)).total == 0
    seen = progress(status(), newest, Fold(3, "fold", 7, 9))
    assert (seen.words, seen.done, seen.total) == ("Adding up 1 encrypted updates", 7, 9)
    again = progress(status(), newest, Fold(3, "rerandomise", 1, 9))
    assert again.words == "Re-randomising the encrypted sum"


@pytest.mark.parametrize(
    ("state", "reason", "words"),
    [
        (RunState.WAITING, "1 of 3 clients", "Waiting: 1 of 3 clients"),
        (RunState.STOPPED, "", "Stopped"),
        (RunState.FAILED, "3 aborted rounds", "The run failed: 3 aborted rounds"),
        (RunState.RUNNING, "", "Round 3 was aborted: too few"),
    ],
)
def test_between_rounds_the_run_says_why_it_stands_still(state, reason, words):
    newest = report(state=RoundState.ABORTED)
    assert progress(status(state, reason), newest, None).words == words


def test_the_record_level_epsilon_is_that_of_the_privacy_report():
    training = {"learning_rate": 3.0, "record_clip_norm": 2.0, "min_records": 2000}
    content = document(training=training)
    for rounds in (1, 2):
        release = release_of(content, noise_of(content), DEFAULT, content.noise.delta)
        exact = privacy_report(replace(release, rounds=Rounds(event_of(content), rounds))).rows
        view = privacy_view(content, rounds)
        assert isinstance(exact.record, RecordGuarantee)
        assert view.record.so_far == pytest.approx(exact.record.epsilon, rel=1e-9)
        assert view.pure_per_round == pytest.approx(exact.whole_update_pure.per_round)
        assert view.unit_parameters == exact.paper_unit.parameters
    assert view.record.at_end == view.record.so_far
    assert privacy_view(content, 0).record.so_far == 0


def test_where_nothing_is_promised_the_words_say_why():
    view = privacy_view(document(), 1)
    assert view.record.at_end is None
    assert view.record.words.startswith("no bound: gradients are not clipped per example")
    coarse = document(
        training={"learning_rate": 1.0, "record_clip_norm": 1.0},
        noise={"clip": 0.1, "laplace_scale": 1e-6, "grid": 1},
        norm_bound={"limit": 100.0},
    )
    assert "far too coarse" in privacy_view(coarse, 1).record.words
    silent = document(noise={"clip": 0.1, "laplace_scale": 0.0}, norm_bound={"limit": 100.0})
    assert privacy_view(silent, 1) is None
