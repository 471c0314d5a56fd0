"""What every blob store promises, held against each implementation."""

import asyncio
import hashlib
import pickle
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.blobs.files import FileBlobStore
from fedperm.blobs.intake import BATCH_BYTES
from fedperm.blobs.memory import MemoryBlobStore
from fedperm.blobs.registry import open_blob, open_store
from fedperm.blobs.store import INCOMING, BlobRef, BlobStore
from fedperm.errors import BlobError, BodyError, ParameterError

Fresh = Callable[[], AbstractContextManager[BlobStore]]

IDLE_SECONDS = 30.0
_numbers = count()


@contextmanager
def in_a_folder() -> Iterator[BlobStore]:
    with tempfile.TemporaryDirectory(prefix="with a blank, 100% ü ") as folder:
        yield FileBlobStore(Path(folder) / "blobs")


@contextmanager
def in_memory() -> Iterator[BlobStore]:
    yield MemoryBlobStore(f"contract-{next(_numbers)}")


@pytest.fixture(params=[in_a_folder, in_memory], scope="module")
def fresh(request: pytest.FixtureRequest) -> Fresh:
    """Makes an empty store."""
    return request.param


@pytest.fixture
def store(fresh: Fresh) -> Iterator[BlobStore]:
    with fresh() as store:
        yield store


async def arriving(chunks: Sequence[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def receive(
    store: BlobStore, chunks: Sequence[bytes], size: int, name: str | None = None
) -> BlobRef:
    """Keeps it under the name, if there is one."""
    async with store.receive(arriving(chunks), size, IDLE_SECONDS) as received:
        return received if name is None else store.keep(received, name)


def content(ref: BlobRef) -> bytes:
    return bytes(open_blob(ref).view())


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


parts = st.text("ab.-_0", min_size=1, max_size=3).filter(lambda part: part[0] in "ab0")
names = st.lists(parts, min_size=1, max_size=3).map("/".join)
chunked = st.lists(st.binary(max_size=40), max_size=6)


@given(chunks=chunked, name=names)
def test_what_was_received_and_kept_is_read_back(fresh: Fresh, chunks: list[bytes], name: str):
    data = b"".join(chunks)
    with fresh() as store:
        ref = asyncio.run(receive(store, chunks, len(data), f"kept/{name}"))
        assert ref == store.ref(f"kept/{name}", digest(data), len(data))
        assert content(ref) == data
        assert store.names("kept") == [f"kept/{name}"]
        assert store.sweep_incoming() == 0


@given(data=st.binary(max_size=60), start=st.integers(-2, 62), length=st.integers(-2, 62))
def test_a_range_is_exactly_what_was_asked_for(fresh: Fresh, data: bytes, start: int, length: int):
    with fresh() as store:
        blob = open_blob(store.write("written", data))
        if start >= 0 and length >= 0 and start + length <= len(data):
            assert blob.read(start, length) == data[start : start + length]
        else:
            with pytest.raises(BlobError, match="were requested"):
                blob.read(start, length)


@given(chunks=chunked, error=st.integers(-80, 80).filter(bool))
def test_a_body_of_another_length_leaves_nothing(fresh: Fresh, chunks: list[bytes], error: int):
    size = sum(map(len, chunks)) + error
    with fresh() as store:
        with pytest.raises(BodyError, match="octets announced"):
            asyncio.run(receive(store, chunks, size, "kept/it"))
        assert (store.names("kept"), store.sweep_incoming()) == ([], 0)


async def run_on(read: int) -> AsyncIterator[bytes]:
    """More than anybody announced, for ever; fails if it is asked for after `read` bytes."""
    sent = 0
    while True:
        assert sent < read, "the rest of a body that is too long is read"
        yield bytes(BATCH_BYTES // 4)
        sent += BATCH_BYTES // 4


def test_a_body_that_is_too_long_is_not_read_to_its_end(store: BlobStore):
    async def attempt() -> None:
        async with store.receive(run_on(read=2 * BATCH_BYTES), BATCH_BYTES + 1, IDLE_SECONDS):
            raise AssertionError

    with pytest.raises(BodyError, match="octets announced"):
        asyncio.run(attempt())
    assert store.sweep_incoming() == 0


@given(data=st.binary(max_size=20))
def test_what_nobody_kept_is_gone(fresh: Fresh, data: bytes):
    with fresh() as store:
        ref = asyncio.run(receive(store, [data], len(data)))
        with pytest.raises(BlobError, match="missing"):
            open_blob(ref).view()
        assert store.sweep_incoming() == 0


def test_what_is_being_received_can_be_read_and_is_not_listed(store: BlobStore):
    async def look() -> None:
        async with store.receive(arriving([b"abc"]), 3, IDLE_SECONDS) as received:
            assert (content(received), received.sha256) == (b"abc", digest(b"abc"))
            assert store.names(INCOMING) == []

    asyncio.run(look())


def test_a_sender_that_stalls_is_given_up(store: BlobStore):
    async def stalling() -> AsyncIterator[bytes]:
        yield b"abc"
        await asyncio.Event().wait()

    async def attempt() -> None:
        async with store.receive(stalling(), 4, 0.01):
            raise AssertionError

    with pytest.raises(BodyError, match=r"nothing of the body came for 0\.01 s"):
        asyncio.run(attempt())
    assert store.sweep_incoming() == 0


def test_a_request_that_is_cancelled_leaves_nothing(store: BlobStore):
    async def attempt() -> None:
        has_begun = asyncio.Event()

        async def endless() -> AsyncIterator[bytes]:
            yield b"abc"
            has_begun.set()
            await asyncio.Event().wait()

        async def take() -> None:
            async with store.receive(endless(), 4, IDLE_SECONDS):
                raise AssertionError

        taking = asyncio.create_task(take())
        await has_begun.wait()
        taking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await taking

    asyncio.run(attempt())
    assert store.sweep_incoming() == 0


def test_a_body_of_several_batches_is_one_blob(store: BlobStore):
    chunks = [bytes([n]) * (BATCH_BYTES // 2 + n) for n in range(5)]
    data = b"".join(chunks)
    ref = asyncio.run(receive(store, chunks, len(data), "long"))
    assert (ref.sha256, ref.size) == (digest(data), len(data))
    assert content(ref) == data


@given(data=st.binary(max_size=40))
def test_the_same_bytes_twice_are_no_harm(fresh: Fresh, data: bytes):
    with fresh() as store:
        first = asyncio.run(receive(store, [data], len(data), "runs/it"))
        assert asyncio.run(receive(store, [data], len(data), "runs/it")) == first
        assert store.write("runs/it", data) == first
        assert content(first) == data
        assert store.names("runs") == ["runs/it"]


def test_a_blob_of_another_size_than_its_reference_is_refused(store: BlobStore):
    ref = store.write("written", b"abcd")
    for other in (b"abc", b"abcde"):
        store.write("written", other)
        with pytest.raises(BlobError, match="has changed"):
            open_blob(ref).view()
    store.write("written", b"a")
    with pytest.raises(BlobError, match="has changed"):
        open_blob(ref).read(1, 3)


def test_a_blob_that_was_removed_is_missing(store: BlobStore):
    ref = store.write("written", b"abcd")
    for _ in range(2):
        store.remove("written")
        with pytest.raises(BlobError, match="missing"):
            open_blob(ref).view()
        with pytest.raises(BlobError, match="missing"):
            open_blob(ref).read(0, 1)


def test_a_view_outlives_the_blob(store: BlobStore):
    view = open_blob(store.write("written", b"abcd")).view()
    store.remove("written")
    assert bytes(view) == b"abcd"
    assert view.readonly


folders = st.sampled_from(["runs", "runs/a", "runs/ab", "other"])
kept = st.sets(st.tuples(folders, parts), max_size=8).map(
    lambda pairs: {f"{folder}/x/{part}" for folder, part in pairs}
)


@given(stored=kept, needed=kept, folder=folders)
def test_a_sweep_removes_what_is_in_the_folder_and_not_needed(
    fresh: Fresh, stored: set[str], needed: set[str], folder: str
):
    with fresh() as store:
        for name in stored:
            store.write(name, name.encode())
        inside = {name for name in stored if name.startswith(f"{folder}/")}
        assert store.names(folder) == sorted(inside)
        assert store.sweep(folder, needed) == len(inside - needed)
        left = stored - (inside - needed)
        assert sorted(store.names("runs") + store.names("other")) == sorted(left)
        for name in left:
            assert content(store.ref(name, digest(name.encode()), len(name))) == name.encode()


@given(stored=kept, folder=folders)
def test_a_folder_is_removed_with_all_that_is_in_it(fresh: Fresh, stored: set[str], folder: str):
    with fresh() as store:
        for name in stored:
            store.write(name, b"")
        store.remove_all(folder)
        left = {name for name in stored if not name.startswith(f"{folder}/")}
        assert sorted(store.names("runs") + store.names("other")) == sorted(left)


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "/etc/passwd",
        "a/../b",
        "a//b",
        "a/",
        "a/.hidden",
        "a\\b",
        "a b",
        "a\n",
        "%41",
    ],
)
def test_a_name_that_could_lead_elsewhere_is_refused(store: BlobStore, name: str):
    for use in (
        lambda: store.ref(name, "", 0),
        lambda: store.write(name, b""),
        lambda: store.remove(name),
        lambda: store.remove_all(name),
        lambda: store.names(name),
        lambda: store.sweep(name, ()),
    ):
        with pytest.raises(ParameterError, match="not a blob name"):
            use()


def test_a_reference_can_be_pickled_and_is_opened_by_its_url_alone(store: BlobStore):
    ref = pickle.loads(pickle.dumps(store.write("a/b", b"abcd")))  # noqa: S301 (its own)
    assert (content(ref), ref.sha256, ref.size) == (b"abcd", digest(b"abcd"), 4)


def test_a_store_is_opened_by_its_url(store: BlobStore):
    ref = store.write("a/b", b"abcd")
    again = open_store(ref.url.removesuffix("/a/b"))
    assert type(again) is type(store)
    assert again.ref("a/b", ref.sha256, ref.size) == ref
    assert again.names("a") == ["a/b"]


def test_room_for_what_fits(store: BlobStore):
    store.check_room(1 << 16)
    assert store.sweep_incoming() == 0
