"""The oracle finds what it is there to find: faults that are planted in the product, one by one."""

from dataclasses import replace

import pytest

from fedperm.uploads.masks import Masks
from fedperm_aggregator.records import StoredSubmission
from fedperm_aggregator.submissions.intake import Intake
from fedperm_client import apply_round
from fedperm_client.outbox import Outbox
from tests.simulation.lines import Mishap
from tests.simulation.machine import Simulation
from tests.simulation.tally import Tally

NEVER = 1_000_000
SWEEPS = 6
"""In which every client has joined, been asked, and sent something."""


def objections() -> list[str]:
    """Of what kinds they were, in a round in which an upload has to be sent twice."""

    class Planted(Simulation):
        tally = Tally()

    machine = Planted()
    try:
        machine.open(noised=False, rounds=1, left=NEVER, who=0)
        machine.trouble_with_an_upload(who=0, mishap=Mishap.LOST_REQUEST)
        machine.all_step(times=SWEEPS)
        machine.all_step_and_time_passes(seconds=61.0)
        assert Planted.tally.faults[Mishap.LOST_REQUEST.value] == 1
        assert Planted.tally.rounds["published"] == 1
    except AssertionError:
        assert machine.has_failed
    finally:
        machine.teardown()
    return list(Planted.tally.failures)


def test_nothing_is_objected_to_the_product_as_it_is():
    assert objections() == []


def test_a_member_that_is_folded_twice_is_double(monkeypatch: pytest.MonkeyPatch):
    honest = Masks.sum_up

    def twice(form, members, *rest):
        summed = honest(form, [*members, members[0]], *rest)
        return replace(summed, total=replace(summed.total, contributors=len(members)))

    monkeypatch.setattr(Masks, "sum_up", twice)
    assert objections() == ["double"]


def test_an_update_that_is_acknowledged_and_not_stored_is_lost(monkeypatch: pytest.MonkeyPatch):
    honest = Intake._store

    def forgetful(self, admitted, received):
        if admitted.new.place.client == "client-1":
            return StoredSubmission(admitted.claim.sha256, "stored", self._clock.now()), True
        return honest(self, admitted, received)

    monkeypatch.setattr(Intake, "_store", forgetful)
    assert objections() == ["lost"]


def test_a_second_draw_after_a_lost_request_is_a_second_release(monkeypatch: pytest.MonkeyPatch):
    """The client does not look for what it has sent already."""
    monkeypatch.setattr(Outbox, "find", lambda _self, _kind, _number: None)
    assert objections() == ["second release"]


def test_an_average_that_is_applied_twice_is_a_wrong_model(monkeypatch: pytest.MonkeyPatch):
    honest = apply_round.averaged
    monkeypatch.setattr(apply_round, "averaged", lambda *given: 2 * honest(*given))
    assert objections() == ["wrong model"]
