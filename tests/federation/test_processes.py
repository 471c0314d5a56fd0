"""Every party is ended in the middle of a round and started again; the run completes."""

import signal
import sqlite3
from contextlib import closing

import pytest

from fedperm.wire.aggregator import RoundState, RunState
from fedperm_cli.federation.processes import RunningProcess
from fedperm_client.initial_model import initial_model
from tests.client.documents import document
from tests.federation.world import World, stopped, world

CLIENTS = ("ada", "cleo")
ROUNDS = {
    "count": 4,
    "clients_per_round": 2,
    "min_contributors": 2,
    "start_with": 2,
    "deadline_seconds": 300.0,
    "extension_seconds": 30.0,
}


def wait_for_round(here: World, number: int) -> None:
    """Until both have joined and the round before is settled; no other is open then."""

    def is_there() -> bool:
        status = here.ask(lambda api: api.run(here.run, here.run_operator))
        rounds = here.ask(lambda api: api.rounds(here.run, here.run_operator)).rounds
        settled = all(report.outcome.state.is_settled for report in rounds)
        return status.participants == 2 and status.round == number - 1 and settled

    here.wait_until(is_there, f"calm before round {number}")


def stop(process: RunningProcess) -> None:
    process.ask_to_stop()
    assert process.wait(30) == 128 + signal.SIGTERM


@pytest.mark.system
def test_whoever_is_killed_in_the_middle_of_a_round_comes_back_and_nothing_is_lost(tmp_path):
    """A round cannot end while Cleo is frozen, so what happens then happens in its middle. Both
    must contribute to each round: a lost or refused update would abort it. Ada is asked to stop,
    the others are killed."""
    initial = initial_model("digits", {}, seed=0)
    wanted = document(initial, rounds=ROUNDS).model_dump(mode="json", exclude={"key"})
    with world(tmp_path) as here:
        here.create_run(wanted, initial)
        here.ask(lambda api: api.stop(here.run, here.run_operator))
        ada, cleo = (here.start_client(name, max_epsilon=1000) for name in CLIENTS)
        for number, victim in enumerate((here.aggregator, here.key_server, ada, cleo), 1):
            wait_for_round(here, number)
            with stopped(cleo):
                here.ask(lambda api: api.resume(here.run, here.run_operator))
                here.wait_for_updates(number, 1)
                here.ask(lambda api: api.stop(here.run, here.run_operator))
                (stop if victim is ada else RunningProcess.kill)(victim)
                victim.restart()
        assert here.wait_for_end() is RunState.COMPLETED
        assert [client.wait(120) for client in (ada, cleo)] == [0, 0]
        rounds = here.ask(lambda api: api.rounds(here.run, here.run_operator)).rounds
        summaries = [here.summary(name) for name in CLIENTS]
    assert [len(report.outcome.included) for report in rounds] == [2] * 4
    assert {report.outcome.state for report in rounds} == {RoundState.PUBLISHED}
    assert len({summary.parameters_sha256 for summary in summaries}) == 1
    assert [summary.rounds_included for summary in summaries] == [4, 4]
    charges = [
        len((tmp_path / name / "privacy-ledger.jsonl").read_text().splitlines()) - 1
        for name in CLIENTS
    ]
    assert charges == [4, 4]


@pytest.mark.system
def test_a_client_that_is_told_of_the_end_too_soon_ends_with_4(tmp_path):
    """The aggregator's word is in its database: a run that waits for a second client is over."""
    initial = initial_model("digits", {}, seed=0)
    wanted = document(initial, rounds=ROUNDS).model_dump(mode="json", exclude={"key"})
    with world(tmp_path) as here:
        here.create_run(wanted, initial)
        ada = here.start_client("ada", max_epsilon=1000)
        here.wait_until(lambda: here.participants() == 1, "first client")
        with closing(sqlite3.connect(here.folder.state("aggregator") / "aggregator.db")) as rows:
            rows.execute("UPDATE runs SET state = 'completed'")
            rows.commit()
        assert ada.wait(60) == 4
        assert (here.summary("ada").state, here.summary("ada").rounds) == ("ended early", 0)


@pytest.mark.parametrize("server", ["keyserver", "aggregator"])
def test_a_server_ends_at_sigterm_with_exit_code_0(tmp_path, server):
    with world(tmp_path) as here:
        process = {"keyserver": here.key_server, "aggregator": here.aggregator}[server]
        process.ask_to_stop()
        assert process.wait(30) == 0
