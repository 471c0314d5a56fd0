"""One client, one state directory, one process."""

import stat

import pytest

from fedperm.errors import SettingsError
from fedperm_client.state_directory import StateDirectory


def test_it_is_made_for_its_owner_only(tmp_path):
    state = StateDirectory(tmp_path / "new" / "state")
    with state.in_use():
        assert stat.S_IMODE(state.path.stat().st_mode) == 0o700


def test_two_processes_cannot_use_it_at_once(tmp_path):
    """Locks on a file that was opened twice exclude each other within a process as well."""
    with (
        StateDirectory(tmp_path).in_use(),
        pytest.raises(SettingsError, match="another client is using"),
        StateDirectory(tmp_path).in_use(),
    ):
        pass
    with StateDirectory(tmp_path).in_use():
        pass
