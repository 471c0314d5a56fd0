"""A file is the old one or the new one, never half of it; and nobody else's."""

import logging
import os
import stat

import pytest

from fedperm.durable_file import (
    TEMPORARY_SUFFIX,
    create_durably,
    create_exclusively,
    creating,
    locked,
    replacing,
    sweep_unfinished,
    write_durably,
)

WRITERS = (write_durably, create_durably)


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "file"
    write_durably(path, b"old")
    write_durably(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_only_its_owner_may_read_it_whatever_the_umask_says(tmp_path, write, umask):
    before = os.umask(umask)
    try:
        write(tmp_path / "file", b"secret")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


@pytest.mark.parametrize("written", [replacing, creating])
def test_another_mode_is_the_one_that_was_asked_for(tmp_path, written):
    before = os.umask(0o077)
    try:
        with written(tmp_path / "file", 0o644) as file:
            file.write(b"for all")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644


@pytest.mark.parametrize("written", [replacing, creating])
def test_a_failed_write_leaves_nothing(tmp_path, written):
    with pytest.raises(RuntimeError):
        _fail_half_way(written, tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_durably(path, b"old")
    with pytest.raises(RuntimeError):
        _fail_half_way(replacing, path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def _fail_half_way(written, path):
    with written(path) as file:
        file.write(b"half")
        raise RuntimeError


def test_data_then_name_then_folder(tmp_path, monkeypatch):
    """The order that survives a crash, as the operating system is asked for it."""
    asked = []
    real = {name: getattr(os, name) for name in ("fsync", "replace", "link")}

    def fsync(descriptor):
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "data"
        asked.append(kind)
        real["fsync"](descriptor)

    def naming(call):
        def name(source, target, **options):
            assert str(source).endswith(TEMPORARY_SUFFIX)
            asked.append("name")
            real[call](source, target, **options)

        return name

    monkeypatch.setattr(os, "fsync", fsync)
    for call in ("replace", "link"):
        monkeypatch.setattr(os, call, naming(call))
    for write in WRITERS:
        write(tmp_path / write.__name__, b"x")
    assert asked == ["data", "name", "folder"] * len(WRITERS)


def test_no_name_of_an_unfinished_file_is_used_twice(tmp_path):
    """Nobody can plant what nobody can foresee."""
    names = set()
    for _ in range(3):
        with replacing(tmp_path / "file"):
            names |= {path.name for path in tmp_path.iterdir()} - {"file"}
    assert len(names) == 3
    assert all(name.startswith("file.") and name.endswith(".new") for name in names)


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(tmp_path):
    victim, path = tmp_path / "victim", tmp_path / "file"
    victim.write_bytes(b"precious")
    path.symlink_to(victim)
    write_durably(path, b"secret")
    assert victim.read_bytes() == b"precious"
    assert not path.is_symlink()
    assert path.read_bytes() == b"secret"


def plant_file(path, _elsewhere):
    path.write_bytes(b"planted")


def plant_link(path, elsewhere):
    elsewhere.write_bytes(b"planted")
    path.symlink_to(elsewhere)


def plant_link_to_nowhere(path, elsewhere):
    path.symlink_to(elsewhere)


@pytest.mark.parametrize("plant", [plant_file, plant_link, plant_link_to_nowhere])
@pytest.mark.parametrize(
    "create", [create_durably, lambda path, data: create_exclusively(path).write(data)]
)
def test_a_new_file_is_not_written_where_there_is_something(tmp_path, plant, create):
    path, elsewhere = tmp_path / "file", tmp_path / "elsewhere"
    plant(path, elsewhere)
    before = {one.name for one in tmp_path.iterdir()}
    with pytest.raises(FileExistsError):
        create(path, b"secret")
    assert {one.name for one in tmp_path.iterdir()} == before
    assert all(b"secret" not in one.read_bytes() for one in (path, elsewhere) if one.exists())


def test_what_a_crash_left_is_in_nobodys_way_and_is_swept(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    (tmp_path / "deeper").mkdir()
    left = tmp_path / "deeper" / f"file.{'0123456789abcdef' * 2}.new"
    others = [tmp_path / name for name in ("a.new", "file.0123.new", "0" * 32 + ".new")]
    for path in (left, *others):
        path.write_bytes(b"half")
    write_durably(tmp_path / "deeper" / "file", b"whole")
    sweep_unfinished(tmp_path)
    assert not left.exists()
    assert (tmp_path / "deeper" / "file").read_bytes() == b"whole"
    assert all(path.exists() for path in others)  # of other programs, or other parts of ours
    assert [record.file for record in caplog.records] == [left.name]


def test_a_lock_writes_nothing_through_a_link(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / "lock").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"), locked(tmp_path / "lock"):
        pytest.fail("locked")
    assert victim.read_bytes() == b"precious"


def test_a_lock_is_for_one_and_for_its_owner_only(tmp_path):
    lock = tmp_path / "lock"
    with locked(lock), pytest.raises(BlockingIOError), locked(lock, wait=False):
        pytest.fail("two at once")
    with locked(lock, wait=False):
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600
