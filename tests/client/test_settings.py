"""Settings from the environment: complete, or refused by name."""

import pytest

from fedperm.errors import SettingsError
from fedperm_client.settings import ClientSettings

TOKEN = f"fpt1.abc.{'A' * 43}.{'0' * 64}"
MINIMAL = {
    "KEYSERVER_URL": "http://127.0.0.1:1",
    "AGGREGATOR_URL": "http://127.0.0.1:2",
    "RUN": "demo",
    "KEY": "main",
    "STATE_DIRECTORY": "state",
    "MAX_EPSILON": "4",
}


@pytest.fixture
def settings(monkeypatch):
    def read(**changes: str | None) -> ClientSettings:
        for name, value in (MINIMAL | changes).items():
            if value is not None:
                monkeypatch.setenv(f"FEDPERM_CLIENT_{name}", value)
        return ClientSettings.from_environment()

    return read


def test_the_defaults_are_strict(settings):
    ceilings = settings().ceilings
    assert (ceilings.max_epsilon, ceilings.delta, ceilings.accountant) == (4.0, 1e-5, "default")
    assert (ceilings.min_key_bits, ceilings.min_contributors, ceilings.min_window) == (2048, 3, 2)
    assert (ceilings.max_record_epsilon, ceilings.min_laplace_scale) == (8.0, 0.5)
    assert not ceilings.insecure_for_tests
    assert not settings().allow_local_metrics


def test_privacy_is_given_up_only_in_so_many_words(settings):
    without = settings(MAX_EPSILON=None, ACCEPT_NO_PRIVACY="true").ceilings
    limits = without.budget, without.max_record_epsilon, without.min_laplace_scale
    assert limits == (None, None, 0.0)


def test_the_guarantee_for_records_is_given_up_only_in_so_many_words(settings):
    without = settings(ACCEPT_NO_RECORD_GUARANTEE="true").ceilings
    assert (without.max_record_epsilon, without.min_laplace_scale) == (None, 0.5)


def test_then_the_floor_under_the_noise_is_the_owners(settings):
    own = settings(ACCEPT_NO_RECORD_GUARANTEE="true", MIN_LAPLACE_SCALE="0.1").ceilings
    assert own.min_laplace_scale == 0.1


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"MAX_EPSILON": None}, "MAX_EPSILON, the privacy"),
        ({"ACCEPT_NO_PRIVACY": "true"}, "not both"),
        ({"MAX_EPSILON": "0"}, "MAX_EPSILON"),
        ({"MAX_RECORD_EPSILON": "2", "ACCEPT_NO_RECORD_GUARANTEE": "true"}, "not both"),
        ({"MIN_LAPLACE_SCALE": "0.1"}, "also set ACCEPT_NO_RECORD_GUARANTEE"),
        ({"MAX_EPSILON": "inf"}, "MAX_EPSILON"),
        ({"ACCOUNTANT": "mine"}, "ACCOUNTANT.*there is no accountant"),
        ({"ACCOUNTANT": "paper"}, "ACCOUNTANT.*gives no proved bound"),
        ({"ACCOUNTANT": "blanket-pld"}, "ACCOUNTANT.*gives no proved bound"),
        ({"RUN": "Demo"}, "RUN"),
        ({"KEYSERVER_URL": "127.0.0.1:8441"}, "KEYSERVER_URL"),
        ({"LOG_LEVEL": "LOUD"}, "LOG_LEVEL"),
        ({"KEY": None}, "KEY: Field required"),
        ({"MAX_EPSILN": "4"}, "unknown settings: FEDPERM_CLIENT_MAX_EPSILN"),
        ({"ENROLMENT_TOKEN": TOKEN, "ENROLMENT_TOKEN_FILE": "token"}, "not both"),
        ({"SHARD": "-1"}, "SHARD"),
    ],
)
def test_wrong_settings_are_named(settings, changes, problem):
    with pytest.raises(SettingsError, match=problem):
        settings(**changes)


def test_a_token_may_be_a_variable(settings):
    assert settings(ENROLMENT_TOKEN=TOKEN).token().text == TOKEN


def test_a_token_may_lie_in_a_file(settings, tmp_path):
    (tmp_path / "token").write_text(TOKEN + "\n")
    assert settings(ENROLMENT_TOKEN_FILE=str(tmp_path / "token")).token().text == TOKEN


def test_a_token_is_needed_only_when_it_is_asked_for(settings):
    with pytest.raises(SettingsError, match="has no enrolment token"):
        settings().token()


def test_what_is_no_token_is_a_wrong_setting_and_is_not_repeated(settings):
    cut_off = TOKEN[:-1]
    wrong = settings(ENROLMENT_TOKEN=cut_off)
    with pytest.raises(SettingsError, match="not an enrolment token") as refusal:
        wrong.token()
    assert cut_off not in str(refusal.value)
    assert cut_off not in repr(wrong)


def test_the_task_has_a_name_that_the_command_shares(settings, monkeypatch):
    monkeypatch.setenv("FEDPERM_TASK", "flowers.py:Flowers")
    assert settings().task == "flowers.py:Flowers"
    assert settings(TASK="trees.py:Trees").task == "trees.py:Trees"
