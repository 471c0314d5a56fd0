"""Where the aggregator keeps its bulk data: chosen by a URL, named relative to it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fedperm.blobs.files import FileBlobStore
from fedperm.errors import RefusedError, SettingsError
from fedperm.wire.aggregator import SubmissionState
from fedperm_aggregator.__main__ import run
from tests.aggregator.bench import Aggregator, Bench, settings_in
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import MODEL, OPERATOR, Client, KeyServer, ManualClock

pytestmark = pytest.mark.anyio

MakeBench = Callable[..., Bench]


@pytest.fixture
def make_bench(
    folder: Path, clock: ManualClock, server: KeyServer, randomness, clients: list[Client]
) -> Iterator[MakeBench]:
    """An aggregator with these settings, and clients for it."""
    made: list[Bench] = []

    def make(**settings: str) -> Bench:
        made.append(Bench(Aggregator(folder, clock, **settings), server, randomness, clients))
        return made[-1]

    yield make
    for bench in made:
        bench.aggregator.close()


def bulk_files(folder: Path) -> list[str]:
    return sorted(path.name.split(".")[0] for path in folder.rglob("*.safetensors"))


async def open_round(bench: Bench) -> None:
    await bench.create()
    await bench.join(*bench.clients)
    await bench.aggregator.tick()


async def test_another_store_serves_a_whole_round_and_a_restart(
    make_bench: MakeBench, folder: Path
):
    bench = make_bench(blobs_url="memory://round")
    await open_round(bench)
    await bench.contribute(1, *bench.clients[:2])
    store = bench.aggregator.blobs  # in memory only as long as somebody holds it
    names = [name.split("/")[-1].split(".")[0] for name in store.names(f"runs/{bench.run}")]
    assert names == ["initial-model", "ada", "ben"]
    bench.aggregator = bench.aggregator.restarted()
    assert bench.aggregator.blobs is store
    await bench.contribute(1, bench.clients[2])
    await bench.aggregator.tick()
    assert await check_sum(bench, 1) == ("ada", "ben", "cleo")
    assert await bench.api.initial_model(bench.run, OPERATOR) == MODEL
    assert store.names(f"runs/{bench.run}/rounds/1/uploads") == []
    assert bulk_files(folder) == []


async def test_another_folder_holds_all_bulk_data(make_bench: MakeBench, folder: Path):
    elsewhere = folder / "else where"
    bench = make_bench(blobs_url=elsewhere.as_uri())
    await open_round(bench)
    await bench.contribute(1, *bench.clients)
    assert bulk_files(elsewhere) == ["ada", "ben", "cleo", "initial-model"]
    await bench.aggregator.tick()
    assert await check_sum(bench, 1) == ("ada", "ben", "cleo")
    assert bulk_files(elsewhere) == ["aggregate", "initial-model"]
    assert bulk_files(folder / "state") == []


async def test_a_state_directory_can_be_moved(opened: Bench, clients: list[Client], folder: Path):
    """In the middle of a round: no row names a folder."""
    await opened.contribute(1, *clients[:2])
    await opened.aggregator.tick()
    opened.aggregator.close()
    (folder / "moved").mkdir()
    opened.aggregator.settings.state_directory.rename(folder / "moved" / "state")
    opened.aggregator = Aggregator(folder / "moved", opened.clock)
    opened.aggregator.services.background.start()
    assert (
        await opened.upload(clients[0], 1, opened.sent[1, "ada"])
    ).state is SubmissionState.VALID
    await opened.contribute(1, clients[2])
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_a_long_aggregate_is_sent_in_chunks_and_a_missing_one_is_an_error(
    opened: Bench, clients: list[Client], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("fedperm_aggregator.routes.bulk._CHUNK_BYTES", 100)
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")
    (aggregate,) = opened.aggregator.settings.state_directory.rglob("aggregate.*")
    aggregate.unlink()
    with pytest.raises(RefusedError) as refused:
        await opened.api.aggregate(opened.run, 1, OPERATOR)
    assert (refused.value.status, refused.value.kind) == (500, "internal-error")


def test_a_store_that_forgets_is_for_tests_only(tmp_path: Path):
    forgetful = settings_in(tmp_path, blobs_url="memory://it", insecure_for_tests=False)
    with pytest.raises(SettingsError, match="loses acknowledged uploads"):
        run(forgetful)


def test_two_aggregators_do_not_share_a_folder_of_blobs(tmp_path: Path):
    """Each would sweep away what the other receives."""
    shared = tmp_path / "blobs"
    with FileBlobStore(shared).alone("aggregator"), pytest.raises(SettingsError, match="another"):
        run(settings_in(tmp_path, blobs_url=shared.as_uri()))


@pytest.mark.parametrize("url", ["s3://bucket", "file://relative", "/a/path"])
def test_a_url_that_names_no_store_is_refused(tmp_path: Path, url: str):
    with pytest.raises(SettingsError):
        run(settings_in(tmp_path, blobs_url=url))
