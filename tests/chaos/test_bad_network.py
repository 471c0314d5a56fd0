"""A whole federation of real processes over links on which everything goes wrong once."""

from collections import Counter

import pytest

from fedperm.wire.aggregator import RoundState, RunState
from tests.chaos.faults import Fault, FaultKind, Plan, listed, only
from tests.chaos.federation import troubled_federation
from tests.chaos.upload_witness import UploadWitness, slot_of
from tests.chaos.verdict import judge

FAULTS = (
    Fault(FaultKind.LOSE_ANSWER),
    Fault(FaultKind.DROP),
    Fault(FaultKind.DUPLICATE),
    Fault(FaultKind.CUT_ANSWER, 150),
    Fault(FaultKind.CUT_REQUEST, 1500),
    Fault(FaultKind.SLICE, 50),
    Fault(FaultKind.DELAY, seconds=0.1),
)
BEFORE_IT_ARRIVES = (
    Fault(FaultKind.CUT_REQUEST, 4000),
    Fault(FaultKind.DROP),
    Fault(FaultKind.CUT_REQUEST, 3000),
)
"""More than is waited out in silence: the client begins the round anew, with the same bytes."""
ROUNDS = {
    "count": 5,
    "clients_per_round": 2,
    "min_contributors": 2,
    "start_with": 2,
    "deadline_seconds": 300.0,
    "extension_seconds": 30.0,
}


def plan_of(link: str) -> Plan:
    """The first client's uploads meet every fault, as do the first requests on all other links."""
    if link == "client-0 aggregator":
        faults = listed((*BEFORE_IT_ARRIVES, *FAULTS))
        return only(lambda request: slot_of(request) is not None, faults)
    return listed(FAULTS)


@pytest.mark.system
def test_every_fault_of_the_network_is_survived(tmp_path):
    witness = UploadWitness()
    with troubled_federation(tmp_path, 2, witness, plan_of, ROUNDS) as federation:
        assert federation.world.wait_for_end() is RunState.COMPLETED
        assert [member.process.wait(60) for member in federation.members] == [0, 0]
        rounds = federation.rounds()
        states, seen = federation.client_states(), federation.seen()
        verdict = judge(rounds, states, seen, federation.min_contributors)
    assert [outcome.state for outcome in rounds] == [RoundState.PUBLISHED] * ROUNDS["count"]
    assert {len(outcome.included) for outcome in rounds} == {2}
    assert verdict.is_clean, verdict
    assert witness.faults == Counter(f.kind for f in (*BEFORE_IT_ARRIVES, *FAULTS * 4))
    assert len(witness.acknowledged) == 2 * ROUNDS["count"]
