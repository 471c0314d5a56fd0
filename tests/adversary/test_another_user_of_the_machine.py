"""Somebody with an account on a party's machine, who may write into a folder above its state or
beside its files. Root can do anything."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from fedperm.errors import SettingsError
from fedperm.privacy.ledger import Budget, Ledger
from fedperm.state_folder import sole_user
from fedperm_client.identity import ClientKeys
from tests.cli.operator import Operator
from tests.keyserver.server import MovingClock, Server
from tests.ledger.test_ledger import PerParameter
from tests.storage.test_state_folder import foreign_folder

Plant = Callable[[Path, Path], None]


def plant_file(path: Path, _mine: Path) -> None:
    path.write_bytes(b"")
    path.chmod(0o666)


def plant_link(path: Path, mine: Path) -> None:
    path.symlink_to(mine)


def plant_second_name(path: Path, mine: Path) -> None:
    path.hardlink_to(mine)


@pytest.fixture(params=[plant_file, plant_link, plant_second_name])
def plant(request: pytest.FixtureRequest) -> Plant:
    planted: Plant = request.param
    return planted


def test_blocked_planting_the_file_that_a_secret_is_written_into(tmp_path: Path, plant: Plant):
    """Under the name that unfinished files once had: whoever made it, or what it leads to, could
    read the keys."""
    mine, keys = tmp_path / "mine", tmp_path / "keys.json"
    mine.write_bytes(b"")
    plant(tmp_path / "keys.json.new", mine)
    with (tmp_path / "keys.json.new").open("rb") as watched:
        made = ClientKeys.kept_at(keys, Random(1))
        assert watched.read() == b""
    assert mine.read_bytes() == b""
    assert ClientKeys.kept_at(keys, Random(2)).signing.private_bytes_raw() == (
        made.signing.private_bytes_raw()
    )
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600


def test_blocked_having_a_secret_written_through_a_link(tmp_path: Path):
    """A link to nowhere: for whoever only looks whether a file exists, there is none."""
    mine, keys = tmp_path / "mine", tmp_path / "keys.json"
    keys.symlink_to(mine)
    with pytest.raises(FileExistsError):
        ClientKeys.kept_at(keys, Random(1))
    assert not mine.exists()


def test_blocked_having_a_file_emptied_through_a_link(tmp_path: Path):
    """The lock beside a ledger was once opened for writing, wherever it led."""
    precious = tmp_path / "precious"
    precious.write_bytes(b"precious")
    (tmp_path / "ledger.lock").symlink_to(precious)
    with pytest.raises(OSError, match="symbolic links"):
        Ledger.start(tmp_path / "ledger", Budget(1.0, 1e-5, "per-parameter"), PerParameter())
    assert precious.read_bytes() == b"precious"


def planted_key(folder: Path) -> Path:
    (folder / "keyserver").mkdir(mode=0o700)
    secret = folder / "keyserver" / "key-encryption-key"
    secret.write_text("0" * 64)
    return secret


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of another user's")
def test_blocked_choosing_the_key_encryption_key(tmp_path: Path):
    """Secrets that are there are kept, so whoever puts one there beforehand would know it."""
    os.chown(planted_key(tmp_path), 65534, 65534)
    refused = Operator({})("deployment", "prepare", str(tmp_path))
    assert refused.returncode == 2
    assert "key-encryption-key: it belongs to another user" in refused.stderr


def test_blocked_choosing_the_key_encryption_key_through_a_link(tmp_path: Path):
    planted_key(tmp_path).rename(tmp_path / "mine")
    (tmp_path / "keyserver/key-encryption-key").symlink_to(tmp_path / "mine")
    refused = Operator({})("deployment", "prepare", str(tmp_path))
    assert refused.returncode == 2
    assert "key-encryption-key: " in refused.stderr


def test_blocked_reading_a_state_folder_that_was_left_open(tmp_path: Path):
    """The folder is closed, and so is every file of the database, whatever the umask was."""
    tmp_path.chmod(0o755)
    before = os.umask(0o000)
    try:
        server = Server(tmp_path, MovingClock())
    finally:
        os.umask(before)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    files = list(tmp_path.glob("keyserver.db*"))
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert len(files) == 3
    server.close()


def test_blocked_making_the_state_folder_first(tmp_path: Path):
    """Its owner could put keys of their own into it, or take it away."""
    with (
        pytest.raises(SettingsError, match="belongs to another user"),
        sole_user(foreign_folder(tmp_path), "client"),
    ):
        pytest.fail("used")
