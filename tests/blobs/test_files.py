"""Files in particular: how they survive, and who may use them."""

import os
from pathlib import Path

import pytest

from fedperm.blobs.files import FileBlobStore
from fedperm.blobs.registry import BLOB_BACKENDS, BlobBackend, open_blob, open_store
from fedperm.blobs.store import INCOMING, BlobRef
from fedperm.errors import SettingsError
from fedperm.workers import worker_processes


def whole(ref: BlobRef) -> bytes:
    return bytes(open_blob(ref).view())


def test_a_worker_process_reads_by_the_reference_alone(tmp_path: Path):
    ref = FileBlobStore(tmp_path).write("runs/it", b"abcd")
    with worker_processes(1) as workers:
        assert workers.executor.submit(whole, ref).result() == b"abcd"


def test_a_folder_can_be_moved(tmp_path: Path):
    ref = FileBlobStore(tmp_path / "here").write("runs/it", b"abcd")
    (tmp_path / "here").rename(tmp_path / "there")
    moved = FileBlobStore(tmp_path / "there")
    assert moved.names("runs") == ["runs/it"]
    assert whole(moved.ref("runs/it", ref.sha256, ref.size)) == b"abcd"


def test_what_a_crash_left_unfinished_is_not_listed_but_swept(tmp_path: Path):
    store = FileBlobStore(tmp_path)
    store.write("runs/it", b"abcd")
    (tmp_path / "runs" / "other.new").write_bytes(b"half")
    (tmp_path / INCOMING / "0123.new").write_bytes(b"half")
    assert store.names("runs") == ["runs/it"]
    assert store.sweep("runs", {"runs/it"}) == 1
    assert store.sweep_incoming() == 1
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["it"]


def test_a_folder_that_is_cleared_is_durably_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = FileBlobStore(tmp_path)
    store.write("runs/a/it", b"abcd")
    synced = []
    honest = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.fstat(fd).st_ino), honest(fd)))
    store.remove_all("runs/a")
    store.remove_all("runs/none")
    assert synced == [(tmp_path / "runs" / "a").stat().st_ino]


def test_files_and_folders_are_for_their_owner_only(tmp_path: Path):
    FileBlobStore(tmp_path / "blobs").write("runs/it", b"abcd")
    made = [tmp_path / "blobs", *(tmp_path / "blobs").rglob("*")]
    assert {path.stat().st_mode & 0o077 for path in made} == {0}


def test_a_second_user_is_refused(tmp_path: Path):
    first, second = FileBlobStore(tmp_path), FileBlobStore(tmp_path)
    with (
        first.alone("aggregator"),
        pytest.raises(SettingsError, match="another aggregator uses"),
        second.alone("aggregator"),
    ):
        pass
    with second.alone("aggregator"):
        pass


@pytest.mark.parametrize("url", ["file://blobs", "file:blobs", "file://host/blobs"])
def test_a_url_without_an_absolute_path_is_refused(url: str):
    with pytest.raises(SettingsError, match="not a URL of a file"):
        open_store(url)


def test_an_unknown_scheme_is_refused_without_repeating_the_url():
    with pytest.raises(SettingsError, match="there is no blob store for s3://") as refused:
        open_store("s3://user:password@bucket")
    assert "password" not in str(refused.value)
    assert "file://" in refused.value.hint


def test_another_scheme_can_be_registered(tmp_path: Path):
    store = FileBlobStore(tmp_path)
    BLOB_BACKENDS.register("test-shelf", BlobBackend(lambda _url: store, lambda _ref: None))
    assert open_store("test-shelf://anywhere") is store
