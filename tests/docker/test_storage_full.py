"""The aggregator's disk is full for a while, in the middle of a run: it costs time, nothing else.

The oracle is that of the simulation: client u adds 1 at coordinate u, so a lost update or one that
is counted twice shows in the model.
"""

import time
from pathlib import Path

import pytest
from safetensors.numpy import load

from fedperm.services import AGGREGATOR
from tests.docker.composed import STATE, Composed

pytestmark = pytest.mark.docker

CLIENTS = 3
KNOBS = {
    "DATASET": "synthetic",
    "PARAMETERS": 64,
    "SHARDS": CLIENTS,
    "MOST_CLIENTS": CLIENTS,
    "QUORUM": CLIENTS,
    "START_WITH": CLIENTS,
    "ROUNDS": 12,
    "DEADLINE_SECONDS": 300,
    "K1": 64,
    "KEYSERVER_PORT": 18442,
    "AGGREGATOR_PORT": 18101,
    "DASHBOARD_PORT": 0,
}
FULL_SECONDS = 20
"""Longer than a job is tried that fails for a reason of its own."""

FILL = f"""
import errno
with open("{STATE}/filler", "wb", buffering=0) as file:
    try:
        while True:
            file.write(bytes(4096))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
"""
EMPTY = f'import os; os.unlink("{STATE}/filler")'


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    folder, here = tmp_path_factory.mktemp("full"), Path(__file__)
    files = (here.with_name("oracle.yml"), here.with_name("tiny_disk.yml"))
    with Composed("fedperm-full", folder, KNOBS, *files) as federation:
        federation.up(clients=CLIENTS)
        aggregator, view = federation.container("aggregator"), federation.aggregator()
        view.until(view.published, "a round")
        federation.python(aggregator, FILL)
        http = federation.http(AGGREGATOR)
        view.until(lambda: http.get("/readyz").status_code == 503, "that it is not ready")
        before = len(view.published())
        time.sleep(FULL_SECONDS)
        assert len(view.published()) == before < KNOBS["ROUNDS"]
        federation.python(aggregator, EMPTY)
        view.until(lambda: http.get("/readyz").status_code == 200, "that it is ready again")
        code = federation.operator_exit_code()
        assert code == 0, federation.log("operator")
        federation.docker.wait(federation.containers("client"))
        yield federation


def test_no_round_is_aborted_and_no_update_left_out(ended):
    rounds = ended.aggregator().rounds()
    assert [r["outcome"]["state"] for r in rounds] == ["published"] * KNOBS["ROUNDS"]
    for report in rounds:
        assert len(report["outcome"]["included"]) == CLIENTS
        assert {update["state"] for update in report["submissions"]} == {"included"}


def test_all_clients_hold_the_model_of_all_updates(ended):
    """Coordinate u moved by 1/3 in each round: by no more, by no less."""
    clients = ended.containers("client")
    (values,) = load(ended.read(clients[0], f"{STATE}/runs/demo/model.safetensors")).values()
    expected = [KNOBS["ROUNDS"] / CLIENTS] * CLIENTS + [0.0] * (KNOBS["PARAMETERS"] - CLIENTS)
    assert values.ravel() == pytest.approx(expected, abs=1 / 1000)
    summaries = [ended.read_json(client, f"{STATE}/summary.json") for client in clients]
    assert len({summary["parameters_sha256"] for summary in summaries}) == 1
    assert {summary["rounds_included"] for summary in summaries} == {KNOBS["ROUNDS"]}


def test_the_log_says_so_and_is_short(ended):
    """Trouble that lasts is said once, not at every tick."""
    log = ended.log("aggregator")
    assert "no room left" in log
    assert log.count('"a tick failed"') + log.count('"a job has to wait') < FULL_SECONDS
