"""The run operator's key file: made once, closed to others, and never put in another's place."""

import json
import stat
from pathlib import Path
from random import Random

import pytest

from fedperm.errors import SettingsError
from fedperm.wire.public_keys import fingerprint
from fedperm_cli.operator.identity import OperatorIdentity
from tests.cli.operator import Operator

VARIABLE = "FEDPERM_RUN_OPERATOR_KEY_FILE"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "own" / "keys.json"


def test_it_is_made_at_first_use_and_kept(file):
    made = OperatorIdentity.kept_at(file, Random(1)).keys
    assert OperatorIdentity.kept_at(file, Random(2)).keys == made
    assert OperatorIdentity.found_at(file).keys == made
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert list(file.parent.iterdir()) == [file]


def test_keys_show_nothing_when_printed(file):
    identity = OperatorIdentity.kept_at(file, Random(1))
    secrets = json.loads(file.read_text()).values()
    assert not any(secret in f"{identity!r} {identity}" for secret in secrets)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_one_that_others_may_open_is_refused(file, mode):
    OperatorIdentity.kept_at(file, Random(1))
    file.chmod(mode)
    with pytest.raises(SettingsError, match=rf"open to others \(mode {mode:o}\).*chmod 600"):
        OperatorIdentity.kept_at(file, Random(1))


@pytest.mark.parametrize("content", [b"", b"{}", b'{"signing_key": "short", "sealing_key": "x"}'])
def test_a_damaged_one_is_refused_and_not_replaced(file, content):
    file.parent.mkdir()
    file.touch(0o600)
    file.write_bytes(content)
    with pytest.raises(SettingsError, match="is damaged"):
        OperatorIdentity.kept_at(file, Random(1))
    assert file.read_bytes() == content


def test_a_link_that_leads_nowhere_is_not_followed(file, tmp_path):
    """Whoever laid it would have the keys where they chose."""
    file.parent.mkdir()
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SettingsError, match="cannot be read"):
        OperatorIdentity.kept_at(file, Random(1))
    assert not (tmp_path / "elsewhere").exists()
    assert list(file.parent.iterdir()) == [file]


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match="cannot be made: File exists"):
        OperatorIdentity.kept_at(tmp_path / "file" / "keys.json", Random(1))


def test_the_operator_is_shown_for_others_to_pin(file):
    operator = Operator({VARIABLE: str(file)})
    shown = operator.json("operator", "show")
    assert shown["fingerprint"] == fingerprint(shown["signing_key"])
    assert shown == operator.json("operator", "show")
    assert shown["file"] == str(file)
    secrets = json.loads(file.read_text()).values()
    printed = operator.succeeds("operator", "show")
    assert shown["fingerprint"] in printed
    assert not any(secret in printed for secret in secrets)


def test_without_the_option_it_lies_in_the_users_own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    shown = Operator({}).json("operator", "show")
    assert shown["file"] == str(tmp_path / "fedperm" / "run-operator-key.json")
