"""Prepared uploads: whole, found again, gone when their round is."""

import pytest

from fedperm_client.outbox import Outbox


@pytest.fixture
def outbox(tmp_path) -> Outbox:
    return Outbox(tmp_path)


def test_what_was_put_is_found_after_a_restart(outbox, tmp_path):
    outbox.put(3, 2, b"upload")
    found = Outbox(tmp_path).find(3)
    assert (found.read(), found.round, found.epoch, found.acknowledged) == (b"upload", 3, 2, False)
    assert Outbox(tmp_path).find(2) is None


def test_an_acknowledgement_survives_a_restart(outbox, tmp_path):
    outbox.acknowledge(outbox.put(3, 2, b"upload"))
    found = Outbox(tmp_path).find(3)
    assert found.acknowledged
    assert found.read() == b"upload"


def test_acknowledging_twice_changes_nothing(outbox):
    acknowledged = outbox.acknowledge(outbox.put(3, 2, b"upload"))
    assert outbox.acknowledge(acknowledged) == acknowledged
    assert outbox.find(3) == acknowledged


def test_settled_rounds_are_cleared_and_later_ones_kept(outbox, tmp_path):
    for number in (1, 2, 10):
        outbox.put(number, 1, b"upload")
    outbox.acknowledge(outbox.find(2))
    outbox.clear(settled=2)
    assert [path.name for path in tmp_path.iterdir()] == ["round-10-epoch-1.prepared"]


def test_a_discarded_upload_is_gone(outbox, tmp_path):
    outbox.discard(outbox.put(1, 1, b"upload"))
    assert outbox.find(1) is None
    assert not list(tmp_path.iterdir())


def test_what_was_never_finished_is_swept_and_never_found(outbox, tmp_path):
    (tmp_path / "round-1-epoch-1.prepared.new").write_bytes(b"torn")
    assert outbox.find(1) is None
    assert Outbox(tmp_path).find(1) is None
    assert not list(tmp_path.iterdir())
