"""A deployment that fedperm/1 left in the middle of two runs is started with today's programs.

`make_deployment` says what is in it. Nothing here knows the servers' tables or folders: whatever
later versions make of them, the runs must go on to their ends.
"""

import pytest

from fedperm.wire.aggregator import RoundState, RunState
from tests.upgrade import as_processes, in_process
from tests.upgrade.ending import NEW_EPOCH, OF_SEALED, OLD_CLIENTS, ClientState, Ending, unpack

WAYS = [
    pytest.param(in_process.finish, id="in this process"),
    pytest.param(as_processes.finish, id="processes", marks=pytest.mark.system),
]


@pytest.fixture(scope="module", params=WAYS)
def ending(request, tmp_path_factory) -> Ending:
    return request.param(tmp_path_factory.mktemp("new"))


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """Everything as it was."""
    folder = tmp_path_factory.mktemp("old")
    unpack(folder)
    return folder


def test_the_open_round_counts_what_was_stored_and_the_run_goes_on(ending):
    assert [report.outcome.state for report in ending.demo] == [RoundState.PUBLISHED] * 3
    first, second, third = (report.outcome for report in ending.demo)
    assert set(first.included) == set(second.included) == set(OLD_CLIENTS)
    assert len(third.included) == 4
    assert (first.epoch, second.epoch, third.epoch) == (1, 2, NEW_EPOCH)


def test_all_clients_end_with_the_same_model(ending):
    summaries = ending.demo_summaries.values()
    assert {(summary.state, summary.rounds) for summary in summaries} == {(RunState.COMPLETED, 3)}
    assert len({summary.parameters_sha256 for summary in summaries}) == 1


def test_a_newcomer_is_told_that_it_comes_too_late_and_holds_nobody_up(ending):
    """It enrolled in epoch 2, and round 1 is under epoch 1; clients of that version had no model to
    vouch for."""
    assert "came too late for the run, which is of fedperm/1" in ending.refusal
    assert set(ending.demo_summaries) == set(OLD_CLIENTS)


def test_an_update_that_never_arrived_is_sent_as_it_is(ending, old):
    assert ending.uploads["cleo", 2] == {ClientState(old / "cleo").prepared}


@pytest.mark.parametrize("client", ["ada", "bo"])
def test_an_update_that_is_stored_is_not_replaced(ending, old, client):
    """Not even if its sender never heard of it."""
    sent_again = ending.uploads.get((client, 2), set())
    assert sent_again <= {ClientState(old / client).prepared}


@pytest.mark.parametrize("client", OLD_CLIENTS)
def test_ledgers_go_on_and_charge_a_round_once(ending, old, client):
    before, after = (ClientState(at / client).charges for at in (old, ending.folder))
    assert after[: len(before)] == before
    rounds = [(run, number) for run, number, _ in after]
    assert len(set(rounds)) == len(rounds)
    prepared_since = {
        ("demo", report.outcome.round)
        for report in ending.demo
        if client in report.outcome.included
    } - set(rounds[: len(before)])
    assert set(rounds[len(before) :]) == prepared_since
    for (sender, number), digests in ending.uploads.items():
        assert sender != client or {("demo", number, digest) for digest in digests} <= set(after)


def test_a_round_that_was_sealed_is_folded(ending):
    (only,) = ending.sealed
    assert only.outcome.state is RoundState.PUBLISHED
    assert set(only.outcome.included) == set(OF_SEALED)
    summaries = ending.sealed_summaries.values()
    assert len({summary.parameters_sha256 for summary in summaries}) == 1


def test_the_audit_log_is_one_chain_from_the_old_entries_on(ending, old):
    kept = (old / "audit-end").read_text()
    ending.audit.check_holds(kept)
    assert ending.audit.end.hash != kept
