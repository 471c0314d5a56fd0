"""The oracle finds what it is there to find: faults planted in an aggregator of this process, or
in what it left on the disk."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fedperm.crash_points import watching
from fedperm.uploads.masks import Masks
from fedperm_aggregator import blob_names
from fedperm_aggregator.submissions.intake import Intake
from fedperm_aggregator.submissions.rules import judge
from tests.aggregator.bench import Aggregator, quick_folder
from tests.aggregator.parties import ManualClock
from tests.crash_points.aftermath import contradictions, missing, repetitions
from tests.crash_points.mortal_aggregator import CLIENTS, CountedRun
from tests.crash_points.tally import Case, Tally

pytestmark = pytest.mark.anyio

RUN = "counted"
PLACE = (RUN, 1, CLIENTS[0].name)


class Immortal(Aggregator):
    """With what a counted run notes of one that dies."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ManualClock())
        self.tally = Tally()
        self.acknowledged: set[tuple[str, int, str]] = set()

    @property
    def state(self) -> Path:
        return self.settings.state_directory

    def alter(self, statement: str) -> None:
        with closing(sqlite3.connect(self.state / "aggregator.db")) as database, database:
            assert database.execute(statement).rowcount == 1

    @property
    def found(self) -> list[str]:
        return [*contradictions(self.state), *missing(self.state, self.acknowledged)]


@pytest.fixture
def aggregator() -> Iterator[Immortal]:
    with quick_folder() as folder:
        aggregator = Immortal(folder)
        yield aggregator
        aggregator.close()


@pytest.fixture
async def run(aggregator: Immortal) -> CountedRun:
    """Its first round is open, and waits for two clients."""
    run = CountedRun(aggregator, RUN, clients_per_round=2, start_with=2)  # type: ignore[arg-type]
    await run.create(**run.settings)
    await run.join(*CLIENTS[:2])
    await aggregator.tick()
    return run


async def publish(run: CountedRun) -> None:
    for u in (0, 1):
        await run.contribute_one(u, 1)
    await run.aggregator.tick()
    await run.check_published(1)


async def test_nothing_is_found_where_nothing_is_wrong(aggregator: Immortal, run: CountedRun):
    await publish(run)
    assert (aggregator.found, repetitions(aggregator.state)) == ([], [])
    aggregator.tally.check()


async def test_an_upload_whose_file_or_row_is_gone_is_found(aggregator: Immortal, run: CountedRun):
    await run.contribute_one(0, 1)
    (upload,) = aggregator.state.glob("runs/*/rounds/1/uploads/*")
    whole = upload.read_bytes()
    for change in (upload.unlink, lambda: upload.write_bytes(whole[:-1] + b"?")):
        change()
        assert aggregator.found == [f"the update of {PLACE[2]} for round 1 of {RUN} has no file"]
    aggregator.alter("DELETE FROM submissions")
    assert aggregator.found == [f"the acknowledged update {PLACE}"]


async def test_what_is_recorded_twice_and_a_lost_aggregate_are_found(
    aggregator: Immortal, run: CountedRun
):
    await publish(run)
    (aggregate,) = aggregator.state.glob("runs/*/rounds/1/aggregate.*")
    aggregate.unlink()
    leftover = aggregator.state / "runs" / RUN / "rounds" / "1" / "uploads" / "left"
    leftover.parent.mkdir(exist_ok=True)
    leftover.touch()
    (aggregator.state / "runs" / RUN / "initial-model.safetensors").unlink()
    assert aggregator.found == [
        f"run {RUN} has lost its initial model",
        f"round 1 of {RUN} is published without its aggregate",
        f"round 1 of {RUN} is marked as scrubbed and is not",
    ]
    columns = "run, at, round, client, event, details"
    aggregator.alter(
        f"INSERT INTO events ({columns}) SELECT {columns} FROM events "  # noqa: S608 (our own words)
        "WHERE event = 'round-published'"
    )
    assert [text.split()[-1] for text in repetitions(aggregator.state)] == ["round-published"]


class Crash(BaseException):
    """At a moment."""


def at(moment: str) -> Callable[[str], None]:
    def watch(passed: str) -> None:
        if passed == moment:
            raise Crash

    return watch


async def test_a_row_that_is_written_before_its_file_is_found(
    aggregator: Immortal, run: CountedRun, monkeypatch: pytest.MonkeyPatch
):
    def reversed_order(self, admitted, received):
        new, claim = admitted.new, admitted.claim
        stored = self._submissions.store(new, lambda slot: judge(slot, claim), self._clock.now())
        name = blob_names.submission(new.place, claim.sha256)
        self._blobs.keep(received, name)
        return stored

    monkeypatch.setattr(Intake, "_store", reversed_order)
    with watching(at("SubmissionStore.store.done")), pytest.raises(Crash):
        await run.contribute_one(0, 1)
    assert aggregator.found == [f"the update of {PLACE[2]} for round 1 of {RUN} has no file"]


async def test_a_member_that_is_folded_twice_and_one_that_is_left_out_are_found(
    aggregator: Immortal, run: CountedRun, monkeypatch: pytest.MonkeyPatch
):
    honest = Masks.sum_up

    def twice(form, members, *rest):
        return honest(form, [members[0], members[0]], *rest)

    monkeypatch.setattr(Masks, "sum_up", twice)
    with pytest.raises(AssertionError):
        await publish(run)
    assert aggregator.tally.double == [f"{CLIENTS[0].name} in round 1: 2 times"]
    assert aggregator.tally.lost == [f"{CLIENTS[1].name} in round 1"]
    with pytest.raises(AssertionError, match="in round 1: 2 times"):
        aggregator.tally.check()


def test_figures_of_several_workers_are_added_up():
    one = Tally({Case("a", True)}, lost=["this"])
    two = Tally({Case("a", False), Case("b", False)}, double=["that"], second_releases=["it"])
    one.add(Tally.from_json(two.to_json()))
    assert str(one) == "crash points: 2 points, 3 cases, 1 lost, 1 double, 1 second releases"
