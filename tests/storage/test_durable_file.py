"""A file is the old one or the new one, never half of it."""

import os
import stat

import pytest

from fedperm.durable_file import TEMPORARY_SUFFIX, replacing, write_durably


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "file"
    write_durably(path, b"old")
    write_durably(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_only_its_owner_may_read_it(tmp_path):
    write_durably(tmp_path / "file", b"secret")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    write_durably(path, b"old")
    with pytest.raises(RuntimeError):
        _fail_half_way(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def _fail_half_way(path):
    with replacing(path) as file:
        file.write(b"half")
        raise RuntimeError


def test_data_then_name_then_folder(tmp_path, monkeypatch):
    """The order that survives a crash, as the operating system is asked for it."""
    asked = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(descriptor):
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "data"
        asked.append(kind)
        real_fsync(descriptor)

    def replace(source, target):
        assert str(source).endswith(TEMPORARY_SUFFIX)
        asked.append("name")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    write_durably(tmp_path / "file", b"x")
    assert asked == ["data", "name", "folder"]
