"""Parts of the demo that need no whole federation: its folder, its guard, its verdict."""

import asyncio
import json
import re
import signal
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from fedperm.privacy.report import privacy_report
from fedperm.services import KEY_SERVER
from fedperm.wire.aggregator import RunState
from fedperm_cli.demo.federation import client_settings
from fedperm_cli.demo.folder import demo_folder
from fedperm_cli.demo.options import DemoOptions, check_demo, run_options
from fedperm_cli.demo.outcome import ClientModel, Outcome
from fedperm_cli.demo.pages import print_outcome
from fedperm_cli.errors import DirectoryError, FederationError, OptionsError
from fedperm_cli.federation.guard import Guard
from fedperm_cli.federation.interruption import all_ends_alike
from fedperm_cli.federation.processes import Processes
from fedperm_cli.run.round_summary import RoundSummary, summarise
from fedperm_client.settings import ClientSettings
from tests.cli.round_reports import round_report
from tests.cli.started import start_unruly
from tests.report.releases import ONE_STEP, release


def test_every_demo_has_a_folder_of_its_own(tmp_path):
    first, second = demo_folder(None, tmp_path / "out"), demo_folder(None, tmp_path / "out")
    assert (first.path.name, second.path.name) == ("demo-1", "demo-2")
    secret, other = ((f.secrets / "key-encryption-key").read_text() for f in (first, second))
    assert len(secret) == 64
    assert secret != other
    for file in first.secrets.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DirectoryError, match="cannot use"):
        demo_folder(tmp_path / "file" / "below")


OWN = DemoOptions(task="mine.py:Mine", option=["depth=2"], k1=22, learning_rate=1.0, clip=0.03)


FOR_MANY_RECORDS = privacy_report(release(scale=20.0))
FOR_FEW_RECORDS = privacy_report(release(scale=20.0, training=replace(ONE_STEP, records=20)))
FOR_NO_RECORD = privacy_report(release(scale=0.3, training=None))


def test_a_task_of_ones_own_goes_to_the_run_and_to_every_client():
    run = run_options(OWN, min_records=7)
    assert (run.task, run.option, run.k1, run.k2) == ("mine.py:Mine", ["depth=2"], 22, 1)
    given = client_settings(OWN, Path("token"), None)
    assert given["task"] == "mine.py:Mine"
    assert "task" not in client_settings(DemoOptions(), Path("token"), None)


def test_what_a_client_of_a_demo_is_given_are_settings_that_clients_have():
    for options in (OWN, DemoOptions()):
        for promised in (None, FOR_FEW_RECORDS, FOR_NO_RECORD):
            given = client_settings(options, Path("token"), promised)
            assert set(given) <= set(ClientSettings.model_fields)


def test_a_client_of_a_demo_gives_what_the_demo_promises_and_no_more():
    """By name where that is more than clients give by default."""
    given = client_settings(DemoOptions(), Path("token"), FOR_FEW_RECORDS)
    assert given["max_record_epsilon"] == FOR_FEW_RECORDS.rows.record.epsilon > 8
    given = client_settings(DemoOptions(), Path("token"), FOR_NO_RECORD)
    assert (given["accept_no_record_guarantee"], given["min_laplace_scale"]) == (True, 0.3)
    for promised in (None, FOR_MANY_RECORDS):
        given = client_settings(DemoOptions(), Path("token"), promised)
        assert not {"max_record_epsilon", "accept_no_record_guarantee"} & set(given)


@pytest.mark.parametrize(("clients", "in_a_sum"), [(3, 3), (4, 4), (5, 5), (8, 5), (10, 6)])
def test_a_sum_of_a_demo_is_of_five_or_of_all(clients, in_a_sum):
    assert run_options(DemoOptions(clients=clients), 1).min_contributors == in_a_sum


@pytest.mark.parametrize("missing", ["k1", "learning_rate", "clip"])
def test_a_task_of_ones_own_needs_a_recipe_of_ones_own(missing):
    with pytest.raises(OptionsError, match="has no recipe"):
        check_demo(replace(OWN, **{missing: None}))


def test_options_of_a_task_need_a_task():
    with pytest.raises(OptionsError, match="--option is for a task of your own"):
        check_demo(DemoOptions(option=["depth=2"]))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_demo_that_is_ended_from_outside_ends_as_by_ctrl_c(number):
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), all_ends_alike():
        signal.raise_signal(number)
    assert signal.getsignal(signal.SIGTERM) == before


def test_work_is_given_up_when_a_process_dies(tmp_path):
    async def scenario(processes: Processes) -> None:
        process, _ = start_unruly(processes, tmp_path)
        guard = Guard([], [process])
        asyncio.get_running_loop().call_later(0.3, process.kill)
        await guard.during(asyncio.sleep(600))

    with (
        Processes(tmp_path) as processes,
        pytest.raises(FederationError, match="unruly ended with exit code -9"),
    ):
        asyncio.run(scenario(processes))


def test_work_ends_although_clients_have_ended_well(tmp_path):
    async def scenario(processes: Processes) -> str:
        process = processes.start("brief", "this", {})
        guard = Guard([], [process])
        await guard.during(guard.clients_end(20))
        return await guard.during(asyncio.sleep(0.5, "done"))

    with Processes(tmp_path) as processes:
        assert asyncio.run(scenario(processes)) == "done"


def test_a_client_that_does_not_end_is_named(tmp_path):
    async def scenario(processes: Processes) -> None:
        guard = Guard([], [start_unruly(processes, tmp_path)[0]])
        await guard.clients_end(0.1)

    with (
        Processes(tmp_path) as processes,
        pytest.raises(FederationError, match=r"unruly has not ended 0\.1 s after the run"),
    ):
        asyncio.run(scenario(processes))


def test_a_server_with_wrong_settings_is_shown_with_its_words(tmp_path):
    with Processes(tmp_path) as processes:
        server = processes.start_server(KEY_SERVER, {})
        with pytest.raises(FederationError) as error:
            server.wait_until_ready()
    assert "keyserver ended with exit code 2" in error.value.message
    assert "FEDPERM_KEYSERVER_STATE_DIRECTORY" in error.value.message


def outcome(*models: ClientModel, rounds: tuple[RoundSummary, ...] = ()) -> Outcome:
    return Outcome(
        state=RunState.COMPLETED,
        reason="",
        document="0" * 64,
        parameters=650,
        count=1,
        rounds=rounds or (summarise(round_report(1, [0.5, 0.5])),),
        clients=models,
        report=None,
        seconds=1.0,
        folder=Path("folder"),
        logs=Path("folder/logs"),
    )


SAME = (ClientModel("a", 1, "1" * 64, ""), ClientModel("b", 1, "1" * 64, ""))


def test_equal_models_after_every_round_are_a_success(capsys):
    good = outcome(*SAME)
    assert good.succeeded
    print_outcome(good)
    said = capsys.readouterr().out
    assert "identical: yes" in said
    assert re.search(r"\nAccuracy on public test data, by round\n +1 to +1 +50.0%\n", said)


def test_losses_stand_where_there_are_no_accuracies(capsys):
    (tested,) = outcome(*SAME).rounds
    print_outcome(outcome(*SAME, rounds=(replace(tested, accuracies=()),)))
    said = capsys.readouterr().out
    assert re.search(r"\nLoss on public test data, by round\n +1 to +1 +0.500\n", said)
    assert "Accuracy" not in said


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (outcome(SAME[0], replace(SAME[1], parameters_sha256="2" * 64)), "identical: NO"),
        (outcome(SAME[0], replace(SAME[1], settled=0)), "identical: NO"),
        (outcome(*(replace(model, settled=0) for model in SAME)), "identical: NO"),
        (outcome(*SAME, rounds=(summarise(round_report(1, [0.5, 0.6])),)), "different accuracies"),
        (replace(outcome(*SAME), state=RunState.FAILED, reason="too few"), "failed: too few"),
        (replace(outcome(*SAME), count=50), "ended early: .* completed after 1 of 50 rounds"),
    ],
)
def test_anything_else_is_a_failure_in_words(changed, words, capsys):
    assert not changed.succeeded
    print_outcome(changed)
    assert re.search(words, capsys.readouterr().out)


def test_programs_read_everything():
    document = json.loads(outcome(*SAME).to_json())
    assert document["identical"] is True
    assert document["completed"] is True
    assert document["rounds"][0]["accuracies"] == [0.5]
    assert [client["client"] for client in document["clients"]] == ["a", "b"]
    assert document["folder"] == "folder"
