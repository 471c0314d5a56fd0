"""Prepared submissions: whole, found again by kind and round, gone when nobody asks any more."""

import pytest

from fedperm.submissions import UPDATE
from fedperm_client.outbox import Outbox
from tests.seams.confirming import CONFIRMATION


@pytest.fixture
def outbox(tmp_path) -> Outbox:
    return Outbox(tmp_path)


@pytest.mark.parametrize("kind", [UPDATE, CONFIRMATION])
def test_what_was_put_is_found_after_a_restart(outbox, tmp_path, kind):
    outbox.put(kind, 3, 2, b"upload")
    found = Outbox(tmp_path).find(kind, 3)
    assert (found.read(), found.round, found.kind, found.epoch) == (b"upload", 3, kind.name, 2)
    assert not found.acknowledged
    assert Outbox(tmp_path).find(kind, 2) is None


def test_kinds_of_one_round_are_kept_apart(outbox):
    outbox.put(UPDATE, 3, 2, b"upload")
    assert outbox.find(CONFIRMATION, 3) is None
    outbox.acknowledge(outbox.put(CONFIRMATION, 3, 2, b"confirmation"))
    assert outbox.find(UPDATE, 3).read() == b"upload"
    assert not outbox.find(UPDATE, 3).acknowledged
    assert outbox.find(CONFIRMATION, 3).read() == b"confirmation"


def test_an_acknowledgement_survives_a_restart(outbox, tmp_path):
    outbox.acknowledge(outbox.put(UPDATE, 3, 2, b"upload"))
    found = Outbox(tmp_path).find(UPDATE, 3)
    assert found.acknowledged
    assert found.read() == b"upload"


def test_acknowledging_twice_changes_nothing(outbox):
    acknowledged = outbox.acknowledge(outbox.put(UPDATE, 3, 2, b"upload"))
    assert outbox.acknowledge(acknowledged) == acknowledged
    assert outbox.find(UPDATE, 3) == acknowledged


@pytest.mark.parametrize("ending", ["prepared", "acknowledged"])
def test_files_without_a_kind_are_updates_of_the_layout_before(outbox, tmp_path, ending):
    (tmp_path / f"round-3-epoch-2.{ending}").write_bytes(b"upload")
    found = outbox.find(UPDATE, 3)
    assert (found.read(), found.round, found.kind, found.epoch) == (b"upload", 3, "update", 2)
    assert found.acknowledged == (ending == "acknowledged")
    assert outbox.find(CONFIRMATION, 3) is None
    assert outbox.acknowledge(found) == outbox.find(UPDATE, 3)
    outbox.clear(settled=3)
    assert not list(tmp_path.iterdir())


def test_updates_of_settled_rounds_are_cleared_and_later_ones_kept(outbox, tmp_path):
    for number in (1, 2, 10):
        outbox.put(UPDATE, number, 1, b"upload")
    outbox.acknowledge(outbox.find(UPDATE, 2))
    outbox.clear(settled=2)
    assert [path.name for path in tmp_path.iterdir()] == ["round-10-update-epoch-1.prepared"]


def test_what_a_phase_after_the_settlement_sends_stays_for_one_more_round(outbox):
    for number in (1, 2):
        outbox.put(CONFIRMATION, number, 1, b"confirmation")
    outbox.clear(settled=2)
    assert outbox.find(CONFIRMATION, 1) is None
    assert outbox.find(CONFIRMATION, 2) is not None


def test_a_discarded_submission_is_gone(outbox, tmp_path):
    outbox.discard(outbox.put(UPDATE, 1, 1, b"upload"))
    assert outbox.find(UPDATE, 1) is None
    assert not list(tmp_path.iterdir())


def test_what_was_never_finished_is_swept_and_never_found(outbox, tmp_path):
    (tmp_path / "round-1-update-epoch-1.prepared.new").write_bytes(b"torn")
    assert outbox.find(UPDATE, 1) is None
    assert Outbox(tmp_path).find(UPDATE, 1) is None
    assert not list(tmp_path.iterdir())
