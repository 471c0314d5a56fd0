"""Every moment at which something is written is in one of the matrices."""

import asyncio

import pytest

from tests.crash_points.marked import marked_steps, unmarked_writers, writes
from tests.crash_points.points import AGGREGATOR, CLIENT, KEY_SERVER
from tests.crash_points.trace import Passed, live_in_peace, live_in_trouble

UNMARKED = {
    "write_durably": "the tool that marked steps use",
    "create_durably": "so is this",
    "_finishing": "and what both are made of",
    "create_exclusively": "and this",
    "publish": "and this",
    "_publish_once": "and this",
    "sweep_unfinished": "removes files that were never given a name",
    "_close_files": "an empty file that SQLite fills: one left over is a database without tables",
    "FileBlobStore.check_room": "a file without a name, which is gone when it is closed",
    "JobRunner._lose": "replaces a pool of processes, no file",
    "_delete": "within FileBlobStore.remove_all, sweep_incoming and sweep",
    "Outbox.__init__": "removes files that were never given a name",
    "locked": "a lock file holds nothing",
    "serve": "tells where the server listens, anew at every start",
    "fetch_missing": "a task's public data, which can be fetched again",
    "write_tensors": "within export_model, and in the command that exports: its user sees it",
    "write_state_dict": "so too",
    "main": "the command that writes an initial model: the operator sees how it ends",
}
"""Functions that change files and are no crash point, and why."""


def step_of(moment: str) -> str:
    """RoundStore.advance.Advance.done is a moment of RoundStore.advance."""
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


@pytest.mark.parametrize(
    "call",
    [
        'open(path, "wb")',
        'path.open(mode="a")',
        'path.open("r+b")',
        "os.open(path, os.O_WRONLY | os.O_CREAT)",
        "temporary.replace(path)",
        "os.replace(temporary, path)",
        "shutil.rmtree(folder)",
        "path.touch()",
        "file.truncate(0)",
        "path.unlink()",
    ],
)
def test_a_call_that_changes_a_file_is_seen(call):
    assert writes(call)


@pytest.mark.parametrize(
    "call",
    [
        "path.open()",
        'path.open("rb")',
        "os.open(folder, os.O_RDONLY)",
        'text.replace("a", "b")',
        "replace(outcome, round=1)",
        "listed.remove(one)",
        "copy(thing)",
    ],
)
def test_a_call_that_changes_none_is_not(call):
    assert not writes(call)
