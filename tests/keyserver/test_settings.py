"""Settings: every mistake is named at the start, and no secret is repeated."""

import os

import pytest

from fedperm.database import open_database
from fedperm.errors import SettingsError
from fedperm.state_folder import make_state_folder
from fedperm_keyserver.__main__ import run
from fedperm_keyserver.migrations import SCHEMA
from fedperm_keyserver.settings import KeyServerSettings
from tests.keyserver.process import PREFIX, environment
from tests.keyserver.server import KEK, OPERATOR, OTHER_KEK


@pytest.fixture
def settings_from(tmp_path, monkeypatch):
    def settings_from(**changes: str) -> KeyServerSettings:
        for name in [name for name in os.environ if name.startswith(PREFIX)]:
            monkeypatch.delenv(name)
        for name, value in environment(tmp_path, **changes).items():
            if name.startswith(PREFIX):
                monkeypatch.setenv(name, value)
        return KeyServerSettings.from_environment()

    return settings_from


def test_the_key_encryption_key_comes_from_a_file_or_a_variable_or_is_missing(settings_from):
    assert settings_from().read_key_encryption_key() is not None
    from_variable = settings_from(key_encryption_key_file="", key_encryption_key=KEK.upper())
    assert from_variable.read_key_encryption_key() is not None
    assert settings_from(key_encryption_key_file="").read_key_encryption_key() is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hots": "127.0.0.1"}, "FEDPERM_KEYSERVER_HOTS"),
        ({"state_directory": ""}, "FEDPERM_KEYSERVER_STATE_DIRECTORY"),
        ({"operator_token_file": ""}, "FEDPERM_KEYSERVER_OPERATOR_TOKEN_FILE"),
        ({"access_token_seconds": "1"}, "FEDPERM_KEYSERVER_ACCESS_TOKEN_SECONDS"),
        ({"enrolment_per_second": "0"}, "FEDPERM_KEYSERVER_ENROLMENT_PER_SECOND"),
        ({"port": "70000"}, "FEDPERM_KEYSERVER_PORT"),
        ({"key_encryption_key_file": "", "key_encryption_key": KEK[1:]}, "64 hexadecimal digits"),
        ({"key_encryption_key_file": "", "key_encryption_key": KEK[1:] + "x"}, "openssl rand"),
        ({"key_encryption_key": OTHER_KEK}, "not both"),
        ({"key_encryption_key_file": "/nonexistent/kek"}, "/nonexistent/kek"),
        ({"operator_token_file": "/nonexistent/token"}, "/nonexistent/token"),
        ({"tls_key": "/nonexistent/key"}, "set both or neither"),
        ({"tls_key": "/nonexistent/key", "tls_certificate": "/nonexistent/c"}, "check both files"),
        ({"state_directory": "/dev/null/state"}, "/dev/null/state"),
        ({"database_url": "nonsense://user:password@host"}, "database cannot be opened"),
        ({"database_url": "sqlite:///a.db", "database_url_file": "/dev/null"}, "not both"),
        ({"database_url_file": "/nonexistent/url"}, "/nonexistent/url"),
        ({"database_url_file": "/dev/null"}, "/dev/null is empty"),
    ],
    ids=str,
)
def test_a_mistake_is_refused_with_what_to_do(settings_from, changes, said):
    with pytest.raises(SettingsError) as caught:
        run(settings_from(**changes))
    assert said in str(caught.value)
    shown = str(caught.value)
    assert [s for s in (KEK, KEK[1:], OTHER_KEK, OPERATOR, "password") if s in shown] == []


def test_printing_the_settings_shows_no_secret(settings_from):
    settings = settings_from(key_encryption_key=KEK, database_url="sqlite:///secret-place.db")
    assert KEK not in repr(settings)
    assert "secret-place" not in repr(settings)


def test_the_database_lies_in_the_state_directory(settings_from, tmp_path):
    settings = settings_from(state_directory=str(tmp_path / "a" / "state #1?"))
    make_state_folder(settings.state_directory)
    open_database(settings.url, SCHEMA).close()
    assert (settings.state_directory / "keyserver.db").exists()


def test_the_database_url_may_stand_in_a_file(settings_from, tmp_path):
    (tmp_path / "url").write_text("postgresql+psycopg://me:password@host/keys\n")
    settings = settings_from(database_url_file=str(tmp_path / "url"))
    assert settings.url == "postgresql+psycopg://me:password@host/keys"
    assert "password" not in repr(settings)
