"""One program, one state directory, one process; closed to others."""

import logging
import os
import stat
from pathlib import Path

import pytest

from fedperm.errors import SettingsError
from fedperm.state_folder import OTHERS_WRITING, make_own_folder, make_state_folder, sole_user

NOBODY = 65534


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_made_for_its_owner_only(tmp_path):
    folder = tmp_path / "new" / "state"
    with sole_user(folder, "client"):
        assert mode_of(folder) == 0o700


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o701, 0o777])
def test_one_of_ours_that_is_open_to_others_is_closed_and_the_log_says_so(tmp_path, caplog, mode):
    tmp_path.chmod(mode)
    make_state_folder(tmp_path)
    assert mode_of(tmp_path) == 0o700
    (said,) = caplog.records
    assert (said.levelname, said.folder, said.mode) == ("WARNING", str(tmp_path), f"{mode:o}")
    make_state_folder(tmp_path)
    assert len(caplog.records) == 1  # once


def test_a_folder_that_others_may_read_is_closed_to_their_writing_alone(tmp_path):
    tmp_path.chmod(0o777)
    make_own_folder(tmp_path, closed_to=OTHERS_WRITING)
    assert mode_of(tmp_path) == 0o755


def foreign_folder(tmp_path: Path) -> Path:
    """Of another user's, whoever runs this."""
    if os.geteuid() != 0:
        return Path("/usr")
    folder = tmp_path / "foreign"
    folder.mkdir(mode=0o777)
    os.chown(folder, NOBODY, NOBODY)
    return folder


def test_one_of_another_users_is_refused_and_left_as_it_is(tmp_path):
    folder = foreign_folder(tmp_path)
    before = (mode_of(folder), sorted(folder.iterdir()))
    with (
        pytest.raises(SettingsError, match=f"{folder} belongs to another user") as refused,
        sole_user(folder, "client"),
    ):
        pytest.fail("used")
    assert "name one within it" in refused.value.hint
    assert (mode_of(folder), sorted(folder.iterdir())) == before


def test_a_link_to_one_of_another_users_is_refused(tmp_path):
    link = tmp_path / "state"
    link.symlink_to(foreign_folder(tmp_path))
    with pytest.raises(SettingsError, match="belongs to another user"):
        make_state_folder(link)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a link in another's name")
def test_a_link_of_another_users_is_refused_even_if_it_leads_to_a_folder_of_ours(tmp_path):
    link, ours = tmp_path / "state", tmp_path / "ours"
    ours.mkdir(mode=0o700)
    link.symlink_to(ours)
    os.lchown(link, NOBODY, NOBODY)
    with pytest.raises(SettingsError, match="is a link of another user's"):
        make_state_folder(link)


def test_two_processes_cannot_use_it_at_once(tmp_path):
    """Locks on a file that was opened twice exclude each other within a process as well."""
    refused = pytest.raises(SettingsError, match="another aggregator uses")
    with sole_user(tmp_path, "aggregator"), refused, sole_user(tmp_path, "aggregator"):
        pytest.fail("two at once")
    with sole_user(tmp_path, "aggregator"):
        pass  # free again


def test_its_only_user_removes_what_was_never_finished(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    left = tmp_path / f"keys.json.{'0' * 32}.new"
    left.write_bytes(b"half a secret")
    with sole_user(tmp_path, "client"):
        assert not left.exists()


def test_an_error_inside_is_not_taken_for_another_user(tmp_path):
    with pytest.raises(BlockingIOError), sole_user(tmp_path, "client"):
        raise BlockingIOError


def test_a_folder_that_cannot_be_made_is_named():
    with pytest.raises(SettingsError, match="/dev/null/state cannot be made"):
        make_state_folder(Path("/dev/null/state"))
