"""One program, one state directory, one process."""

import stat
from pathlib import Path

import pytest

from fedperm.errors import SettingsError
from fedperm.state_folder import make_state_folder, sole_user


def test_it_is_made_for_its_owner_only(tmp_path):
    folder = tmp_path / "new" / "state"
    with sole_user(folder, "client"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_two_processes_cannot_use_it_at_once(tmp_path):
    """Locks on a file that was opened twice exclude each other within a process as well."""
    refused = pytest.raises(SettingsError, match="another aggregator uses")
    with sole_user(tmp_path, "aggregator"), refused, sole_user(tmp_path, "aggregator"):
        pytest.fail("two at once")
    with sole_user(tmp_path, "aggregator"):
        pass  # free again


def test_a_folder_that_cannot_be_made_is_named():
    with pytest.raises(SettingsError, match="/dev/null/state cannot be made"):
        make_state_folder(Path("/dev/null/state"))
