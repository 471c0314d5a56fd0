"""Every moment at which something is written is in one of the matrices."""

import asyncio

from tests.crash_points.marked import marked_steps, unmarked_writers
from tests.crash_points.points import AGGREGATOR, CLIENT, KEY_SERVER
from tests.crash_points.trace import Passed, live_in_peace, live_in_trouble

UNMARKED = {
    "write_durably": "the tool that marked steps use",
    "replacing": "so is this",
    "write_lines": "within Ledger.start and Ledger.charge",
    "_delete": "within Blobs.sweep_incoming and Blobs.sweep_run",
    "Folding.perform": "publishes by RoundStore.publish",
    "Outbox.__init__": "removes files that were never given a name",
    "_locked": "a lock file holds nothing",
    "sole_user": "a lock file holds nothing",
    "serve": "tells where the server listens, anew at every start",
    "fetch_missing": "a task's public data, which can be fetched again",
    "main": "the command that writes an initial model: the operator sees how it ends",
}
"""Functions that change files and are no crash point, and why."""


def step_of(moment: str) -> str:
    """RoundStore.advance.Seal.done is a moment of RoundStore.advance."""
    *names, _moment = moment.split(".")
    return ".".join(names[:2])


def test_what_a_federation_writes_in_its_life_is_what_is_tested(tmp_path):
    """And all marked steps are taken: one that nobody takes would be missed in both."""
    passed = Passed()
    with passed.watching():
        for live in (live_in_peace, live_in_trouble):
            folder = tmp_path / live.__name__
            folder.mkdir()
            asyncio.run(live(folder))
    assert passed.written == AGGREGATOR | KEY_SERVER | CLIENT
    assert {step_of(moment) for moment in passed.all} == marked_steps()


def test_whatever_changes_a_file_is_marked_or_excused():
    assert unmarked_writers() == set(UNMARKED)
