"""`fedperm run watch` on a pipe, against a real aggregator: every round once, and how it ended."""

import json
import subprocess
from dataclasses import replace

from tests.cli.command_line import COMMAND
from tests.cli.operator import Operator
from tests.cli.servers import Servers
from tests.cli.small_run import OPTIONS, FinishedRun, joined_client, make_run, two_clients_at_work

FAILS = replace(OPTIONS, start_with=1, min_contributors=1, deadline_seconds=0.2, give_up_after=1)


def test_a_finished_run_is_told_round_by_round(
    operator: Operator, finished_run: FinishedRun
) -> None:
    lines = operator.succeeds("run", "watch", finished_run.run).splitlines()
    assert [line.split()[:5] for line in lines[:2]] == [
        ["round", str(number), "2", "of", "2"] for number in (1, 2)
    ]
    assert all("test accuracy  75.0%" in line for line in lines[:2])
    assert any(line.split()[:2] == ["state", "completed:"] for line in lines)


def test_a_program_that_watches_reads_one_object_a_line(finished_run: FinishedRun) -> None:
    one, two, end = (json.loads(line) for line in finished_run.live.splitlines())
    assert [one["round"]["round"], two["round"]["round"]] == [1, 2]
    assert one["round"]["accuracies"] == [0.75]
    assert one["round"]["bytes_up"] == 2000
    assert one["round"]["seconds"]["encrypt"] == 0.5
    assert end["status"]["state"] == "completed"


def test_without_the_operators_keys_reports_stay_sealed(
    operator: Operator, finished_run: FinishedRun, tmp_path, monkeypatch
) -> None:
    """Nothing fails: the run is watched and shown, but for what clients measured."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    somebody = operator.without("FEDPERM_RUN_OPERATOR_KEY_FILE")
    lines = somebody.succeeds("run", "watch", finished_run.run).splitlines()
    assert all("test accuracy sealed" in line for line in lines[:2])
    shown = somebody.succeeds("run", "show", finished_run.run)
    assert "sealed; give --run-operator-key-file (4 reports)" in shown
    assert not list(tmp_path.iterdir())
    missing = operator.instead(FEDPERM_RUN_OPERATOR_KEY_FILE=str(tmp_path / "none.json"))
    assert missing("run", "watch", finished_run.run).returncode == 2


def test_a_run_that_fails_ends_with_exit_code_1(operator: Operator, tmp_path) -> None:
    run = make_run(operator, tmp_path, "failing", key="failing", options=FAILS)
    with joined_client(operator, run, "failing"):  # and never uploads
        finished = operator("run", "watch", run)
    assert finished.returncode == 1
    assert "round    1  aborted: " in finished.stdout
    assert "state      failed: " in finished.stdout


def test_a_restarted_aggregator_is_watched_on_and_no_round_is_told_twice(
    operator: Operator, servers: Servers, tmp_path
) -> None:
    run = make_run(operator, tmp_path, "restarted", key="restarted")
    watch = subprocess.Popen(
        [str(COMMAND), "run", "watch", run],
        env=operator.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    address = servers.aggregator.address
    servers.aggregator.kill()
    servers.aggregator.restart()
    assert servers.aggregator.wait_until_ready() == address
    with two_clients_at_work(operator, run, "restarted"):
        printed, _ = watch.communicate(timeout=30)
    assert watch.returncode == 0
    assert [line[:10] for line in printed.splitlines()[:2]] == ["round    1", "round    2"]


def test_an_unknown_run_is_refused_at_once(operator: Operator) -> None:
    assert operator("run", "watch", "never-made").returncode == 3
