"""Settings: every mistake is named at the start, and no secret is repeated."""

import json
import os
import sys
from traceback import format_exception

import pytest

from fedperm.database import open_database
from fedperm.errors import SettingsError
from fedperm.state_folder import make_state_folder
from fedperm_keyserver.__main__ import run
from fedperm_keyserver.migrations import SCHEMA
from fedperm_keyserver.settings import KeyServerSettings
from fedperm_keyserver.vault import key_encryption_key
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


def printing(code: str, **changes: str) -> dict[str, str]:
    """Settings whose key-encryption key is what this program prints."""
    command = json.dumps([sys.executable, "-c", code])
    return {"key_encryption_key_file": "", "key_encryption_key_command": command, **changes}


def test_the_key_encryption_key_comes_from_a_program(settings_from):
    """Whatever stands behind it: a KMS, an HSM, people with shares."""
    found = settings_from(**printing(f"print('{KEK}')")).read_key_encryption_key()
    assert found.identifier == key_encryption_key(KEK).identifier


@pytest.mark.parametrize(
    ("code", "seconds", "said"),
    [
        (f"print('{KEK}'); raise SystemExit(3)", "60", "ended with 3"),
        (f"print('{KEK}', flush=True); import time; time.sleep(600)", "0.5", "longer than 0.5 s"),
        (f"print('{KEK}0')", "60", "not 64 hexadecimal digits"),
        (f"import sys; sys.stderr.write('{KEK}')", "60", "not 64 hexadecimal digits"),
        ("print(chr(233) * 64)", "60", "not 64 hexadecimal digits"),
    ],
    ids=["fails", "hangs", "too long", "the other stream", "no digits"],
)
def test_a_program_that_gives_no_key_is_refused_without_what_it_said(
    settings_from, capfd, code, seconds, said
):
    settings = settings_from(**printing(code, key_encryption_key_command_seconds=seconds))
    with pytest.raises(SettingsError) as caught:
        settings.read_key_encryption_key()
    assert said in str(caught.value)
    shown = "".join(format_exception(caught.value)) + "".join(capfd.readouterr())
    assert KEK not in shown.replace(code, "")


def test_a_program_whose_children_hold_its_output_is_not_waited_for(settings_from, tmp_path):
    """The child ends when the test removes a file; who waits for it would wait for ever."""
    sign = tmp_path / "sign"
    sign.touch()
    child = f"import pathlib, time\nwhile pathlib.Path({str(sign)!r}).exists(): time.sleep(0.05)"
    code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}])"
    settings = settings_from(
        **printing(f"{code}; time.sleep(600)", key_encryption_key_command_seconds="1")
    )
    with pytest.raises(SettingsError, match="longer than 1 s"):
        settings.read_key_encryption_key()
    sign.unlink()


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
        ({"key_encryption_key_command": '["cat"]'}, "not both"),
        (
            {
                "key_encryption_key_file": "",
                "key_encryption_key_command": '["/nonexistent/unseal"]',
            },
            "No such file",
        ),
        ({"key_encryption_key_command": "cat kek"}, "not a JSON list"),
        ({"key_encryption_key_command": "[]"}, "not a JSON list"),
        ({"key_encryption_key_command": '["a", 1]'}, "not a JSON list"),
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
    (tmp_path / "url").write_text("postgresql+psycopg://me:password@localhost/keys\n")
    settings = settings_from(database_url_file=str(tmp_path / "url"))
    assert settings.url == "postgresql+psycopg://me:password@localhost/keys"
    assert "password" not in repr(settings)


@pytest.mark.parametrize(
    "place",
    [
        "db.example.org/keys",
        "192.0.2.7:5432/keys",
        "db.example.org/keys?sslmode=require",
        "db.example.org/keys?sslmode=verify-ca",
        "/keys?host=db.example.org",
        "localhost/keys?hostaddr=192.0.2.7",
        "localhost/keys?host=/run/postgresql,db.example.org",
        "/keys?host=/run/postgresql&host=db.example.org",
        "/keys?service=remote",
    ],
)
def test_a_database_elsewhere_must_show_who_it_is(settings_from, place):
    url = f"postgresql+psycopg://me:hunter2@{place}"
    with pytest.raises(SettingsError, match="another machine") as caught:
        settings_from(database_url=url).url  # noqa: B018 (it is read)
    assert "hunter2" not in str(caught.value)
    assert "FEDPERM_KEYSERVER_DATABASE_WITHOUT_TLS=true" in caught.value.hint
    assert settings_from(database_url=url, database_without_tls="true").url == url


@pytest.mark.parametrize(
    "place",
    [
        "db.example.org/keys?sslmode=verify-full",
        "localhost/keys",
        "127.0.0.1/keys",
        "[::1]/keys",
        "/keys",
        "/keys?host=/run/postgresql",
    ],
)
def test_a_database_here_or_one_that_shows_who_it_is_will_do(settings_from, place):
    url = f"postgresql+psycopg://me:password@{place}"
    assert settings_from(database_url=url).url == url
