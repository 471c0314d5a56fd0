"""The ledger begins with the client's keys, and never again."""

from dataclasses import replace

import pytest

from fedperm.errors import BudgetError, LedgerError
from fedperm.privacy.events import Rounds
from fedperm.privacy.registry import DEFAULT
from fedperm.privacy.release import event_of, noise_of, release_of
from fedperm.privacy.report import privacy_report
from fedperm.submissions import UPDATE
from fedperm_client.errors import StateError
from fedperm_client.identity import ClientKeys
from fedperm_client.outbox import Outbox
from fedperm_client.run_ledger import RunLedger, open_ledger
from fedperm_client.state_directory import StateDirectory
from tests.client.documents import document
from tests.client.test_ceilings import GENEROUS


@pytest.fixture
def state(tmp_path) -> StateDirectory:
    return StateDirectory(tmp_path)


@pytest.fixture
def old_state(state, randomness) -> StateDirectory:
    """Of a client that has started before."""
    open_ledger(state, GENEROUS)
    ClientKeys.kept_at(state.keys, randomness)
    return state


def test_a_new_client_starts_a_ledger(state):
    assert open_ledger(state, GENEROUS).spent() == 0
    assert state.ledger.exists()


def test_a_crash_before_the_keys_were_made_leaves_a_ledger_that_is_opened(state):
    open_ledger(state, GENEROUS)
    assert open_ledger(state, GENEROUS).spent() == 0


def test_a_missing_ledger_is_never_started_anew(old_state):
    old_state.ledger.unlink()
    with pytest.raises(LedgerError, match="the file is missing"):
        open_ledger(old_state, GENEROUS)


def test_another_budget_is_refused(old_state):
    with pytest.raises(LedgerError, match="started with another budget"):
        open_ledger(old_state, replace(GENEROUS, max_epsilon=2000.0))


def test_a_client_that_counts_cannot_release_uncounted(old_state):
    with pytest.raises(StateError, match="keeps a privacy ledger"):
        open_ledger(old_state, replace(GENEROUS, max_epsilon=None))


def test_a_client_that_never_counted_cannot_begin_to(state, randomness):
    assert open_ledger(state, replace(GENEROUS, max_epsilon=None)) is None
    ClientKeys.kept_at(state.keys, randomness)
    with pytest.raises(LedgerError, match="the file is missing"):
        open_ledger(state, GENEROUS)


def run_ledger(state: StateDirectory, **changes) -> RunLedger:
    content = document()
    ledger = open_ledger(state, replace(GENEROUS, **changes))
    return RunLedger(ledger, "demo", event_of(content), noise_of(content))


def test_a_charge_is_for_these_bytes_and_counts_once(state, tmp_path):
    one, outbox = run_ledger(state), Outbox(tmp_path)
    upload = outbox.put(UPDATE, 1, 1, b"upload")
    one.charge(upload)
    one.charge(outbox.acknowledge(upload))
    expected = DEFAULT.guarantee(Rounds(one.event, 1), 1e-5).epsilon
    assert one.ledger.spent() == pytest.approx(expected)


def test_other_bytes_for_a_charged_round_are_a_second_release(state, tmp_path):
    one, outbox = run_ledger(state), Outbox(tmp_path)
    one.charge(outbox.put(UPDATE, 1, 1, b"upload"))
    with pytest.raises(LedgerError, match="charged for another upload"):
        one.charge(outbox.put(UPDATE, 1, 1, b"fresh noise"))


def test_what_passes_the_budget_is_not_charged(state, tmp_path):
    two = DEFAULT.guarantee(Rounds(event_of(document()), 2), 1e-5).epsilon
    one, outbox = run_ledger(state, max_epsilon=two * 1.001), Outbox(tmp_path)
    for number in (1, 2):
        one.charge(outbox.put(UPDATE, number, 1, b"upload"))
    with pytest.raises(BudgetError, match="round 3 of run demo") as refusal:
        one.charge(outbox.put(UPDATE, 3, 1, b"upload"))
    assert "0 rounds are left" in refusal.value.hint
    assert len(one.ledger.charges()) == 2


def test_the_report_holds_the_spent_the_budget_and_what_a_whole_update_costs(state, tmp_path):
    one, outbox = run_ledger(state), Outbox(tmp_path)
    assert one.report().charges == one.report().epsilon == one.report().whole_update == 0
    for number in (1, 2):
        one.charge(outbox.put(UPDATE, number, 1, b"upload"))
    replace(one, run="another").charge(outbox.put(UPDATE, 3, 1, b"upload"))
    report = one.report()
    assert report.epsilon == one.ledger.spent()
    assert (report.budget, report.delta, report.charges) == (GENEROUS.max_epsilon, 1e-5, 2)
    release = release_of(document(), one.noise, DEFAULT, 1e-5)
    rounds = replace(release, rounds=Rounds(one.event, 2))
    assert report.whole_update == pytest.approx(privacy_report(rounds).rows.whole_update.epsilon)
