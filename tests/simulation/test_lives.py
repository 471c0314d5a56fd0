"""Who is ended by a fuse, and who is not: a simulated crash must hit what it is aimed at."""

from pathlib import Path

import pytest

from tests.aggregator.parties import ManualClock
from tests.simulation.disks import Disks, Shortage
from tests.simulation.lives import Fuse, Killed, Party, acting, watch
from tests.simulation.tally import Tally

SEAL = "RoundStore.advance.Advance.done"
SCRUB = "FileBlobStore.remove_all.done"


@pytest.fixture
def parties(tmp_path: Path) -> list[Party]:
    tally = Tally()
    return [Party(name, tmp_path / name, ManualClock(), tally) for name in ("ada", "ben", "cleo")]


def passes(party: Party, *moments: str) -> bool:
    """Whether it lives on."""
    with acting(party.life or party.born()):
        try:
            for moment in moments:
                watch(moment)
        except Killed:
            return False
    return True


def test_an_aimed_crash_ends_whoever_comes_first_and_nobody_else(parties: list[Party]):
    fuse = Fuse(2, "RoundStore.advance.Advance", rest=2)
    for party in parties:
        party.fuse = fuse
    ada, ben, cleo = parties
    assert passes(ada, SCRUB, SEAL, SCRUB)
    assert not passes(ben, SCRUB, SEAL)
    assert passes(ada, SCRUB, SEAL)
    assert passes(cleo, SEAL, SEAL, SCRUB)
    assert [party.is_up for party in parties] == [True, False, True]
    assert (ben.rest, ada.tally.ends) == (2, {SEAL: 1})


def test_a_crash_that_is_aimed_at_no_step_comes_after_so_many_moments(parties: list[Party]):
    ada = parties[0]
    ada.fuse = Fuse(3)
    assert passes(ada, SEAL, SCRUB)
    assert not passes(ada, SCRUB)
    assert passes(ada, SCRUB, SCRUB, SCRUB)  # in its next life


def test_a_party_dies_on_a_full_disk_too(parties: list[Party]):
    ada = parties[0]
    disks = Disks(ada.tally)
    disks.run_short(ada.name, Shortage(left=1, torn=False))
    ada.fuse = Fuse(1)
    with disks.installed():
        assert not passes(ada, SEAL)
    assert not ada.is_up
