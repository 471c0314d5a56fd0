"""Settings: all wrong ones at once, misspelt ones refused, secrets from files."""

from pathlib import Path

import pytest
from pydantic_settings import SettingsConfigDict

from fedperm.errors import SettingsError
from fedperm.settings import Settings, read_secret


class Example(Settings):
    model_config = SettingsConfigDict(env_prefix="FEDPERM_EXAMPLE_")

    port: int = 8000
    folder: Path


def test_settings_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("FEDPERM_EXAMPLE_FOLDER", "/somewhere")
    assert Example.from_environment() == Example(port=8000, folder=Path("/somewhere"))


def test_a_blank_setting_has_its_default(monkeypatch):
    """Compose files pass on what a .env leaves out as nothing."""
    monkeypatch.setenv("FEDPERM_EXAMPLE_FOLDER", "/somewhere")
    monkeypatch.setenv("FEDPERM_EXAMPLE_PORT", "")
    assert Example.from_environment().port == 8000


def test_a_misspelt_setting_is_refused(monkeypatch):
    monkeypatch.setenv("FEDPERM_EXAMPLE_FOLDER", "/somewhere")
    monkeypatch.setenv("FEDPERM_EXAMPLE_PROT", "1")
    with pytest.raises(SettingsError, match="unknown settings: FEDPERM_EXAMPLE_PROT") as refused:
        Example.from_environment()
    assert "FEDPERM_EXAMPLE_PORT" in refused.value.hint


def test_all_wrong_settings_are_named_at_once(monkeypatch):
    monkeypatch.setenv("FEDPERM_EXAMPLE_PORT", "many")
    with pytest.raises(SettingsError) as refused:
        Example.from_environment()
    assert "FEDPERM_EXAMPLE_PORT" in str(refused.value)
    assert "FEDPERM_EXAMPLE_FOLDER" in str(refused.value)


def test_settings_cannot_be_changed(monkeypatch):
    monkeypatch.setenv("FEDPERM_EXAMPLE_FOLDER", "/somewhere")
    with pytest.raises(ValueError, match="frozen"):
        Example.from_environment().port = 1


def test_a_secret_is_read_without_its_newline(tmp_path):
    (tmp_path / "secret").write_text("abc\n")
    assert read_secret(tmp_path / "secret") == "abc"


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff\xfe"])
def test_an_unusable_secret_file_is_named(tmp_path, content):
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=str(path)):
        read_secret(path)
