"""One run through everything that can happen to containers.

The oracle: client u adds 1 at coordinate u and nothing elsewhere, without noise. So after the last
round coordinate u of every model is the sum of 1/n over the rounds whose sum of n updates contains
u's. A missing update or one that counts twice moves a coordinate by at least 1/8; coding moves it
by less than 1/1000.
"""

from collections import Counter
from pathlib import Path

import pytest
from python_on_whales import Container
from safetensors.numpy import load

from fedperm.services import KEY_SERVER
from tests.docker.composed import STATE, AggregatorView, Composed, running

pytestmark = pytest.mark.docker

KNOBS = {
    "DATASET": "synthetic",
    "PARAMETERS": 64,
    "SHARDS": 16,
    "MOST_CLIENTS": 8,
    "QUORUM": 2,
    "MIN_CONTRIBUTORS": 2,
    "START_WITH": 4,
    "ROUNDS": 60,
    "DEADLINE_SECONDS": 6,
    "K1": 64,
    "KEYSERVER_PORT": 18441,
    "AGGREGATOR_PORT": 18100,
    "DASHBOARD_PORT": 0,
}


class Scenario:
    def __init__(self, federation: Composed) -> None:
        self.federation, self.docker = federation, federation.docker
        self.view: AggregatorView = federation.aggregator()

    def clients(self) -> list[Container]:
        return running(self.federation.containers("client"))

    def name(self, client: Container) -> str:
        return str(self.federation.read_json(client, f"{STATE}/enrolled.json")["client"])

    def a_round_with(self, contributors: int) -> None:
        """Published from now on."""
        newest = self.view.newest()
        self.view.until(
            lambda: any(
                len(r["outcome"]["included"]) == contributors
                for r in self.view.published()
                if r["outcome"]["round"] > newest
            ),
            f"a round of {contributors} clients",
        )

    def a_round_without(self, client: str) -> None:
        """One that asked for it and went on."""
        newest = self.view.newest()
        self.view.until(
            lambda: any(
                client in r["outcome"]["selected"] and client not in r["outcome"]["included"]
                for r in self.view.published()
                if r["outcome"]["round"] >= newest
            ),
            f"a round without {client}",
        )

    def an_open_round_held_by(self, held: Container) -> int:
        """A paused client keeps a round open; the other uploads are there."""
        self.docker.pause(held)
        name = self.name(held)

        def waiting() -> int:
            newest = self.view.rounds()[-1]
            missing = set(newest["outcome"]["selected"]) - {
                u["client"] for u in newest["submissions"]
            }
            is_held = newest["outcome"]["state"] == "open" and missing == {name}
            return int(newest["outcome"]["round"]) if is_held else 0

        return int(self.view.until(waiting, "an open round"))

    def crash(self, service: str) -> None:
        """SIGKILL in the middle of an open round, then a new start: the round goes on."""
        held = self.clients()[0]
        number = self.an_open_round_held_by(held)
        self.docker.kill(self.federation.container(service), signal="KILL")
        self.docker.unpause(held)
        self.docker.compose.start(services=[service])
        self.view.until(lambda: self._is_published(number), f"round {number} after {service} died")

    def _is_published(self, number: int) -> bool:
        return any(r["outcome"]["round"] == number for r in self.view.published())


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    """Up to the end of the run; the tests look at what it left."""
    folder = tmp_path_factory.mktemp("faults")
    oracle = Path(__file__).with_name("oracle.yml")
    with Composed("fedperm-faults", folder, KNOBS, oracle) as federation:
        federation.up(clients=4)
        scenario = Scenario(federation)
        scenario.a_round_with(contributors=4)
        federation.up(clients=6)  # more clients on a running federation
        scenario.a_round_with(contributors=6)
        scenario.crash("aggregator")
        scenario.crash("keyserver")

        paused = scenario.clients()[1]  # past the deadline
        federation.docker.pause(paused)
        scenario.a_round_without(scenario.name(paused))
        federation.docker.unpause(paused)

        unplugged, network = scenario.clients()[2], f"{federation.project}_training"
        federation.docker.network.disconnect(network, unplugged)
        scenario.a_round_without(scenario.name(unplugged))
        federation.docker.network.connect(network, unplugged)

        federation.up(clients=4)  # two leave, in the middle of whatever they do
        yield scenario


@pytest.fixture(scope="module")
def ended(scenario):
    code = scenario.federation.operator_exit_code()
    assert code == 0, scenario.federation.log("operator")
    scenario.docker.wait(scenario.federation.containers("client"))
    return scenario


def test_the_run_completes_and_all_who_stayed_agree(ended):
    clients = ended.federation.containers("client")
    summaries = [ended.federation.read_json(c, f"{STATE}/summary.json") for c in clients]
    assert len(summaries) == 4
    assert {s["rounds"] for s in summaries} == {KNOBS["ROUNDS"]}
    assert len({s["parameters_sha256"] for s in summaries}) == 1


def test_every_round_counts_every_update_once(ended):
    """By the oracle, for all clients that ever took part."""
    published = ended.view.published()
    coordinate_of = _ordinals(ended)
    expected = Counter()
    for report in published:
        included = report["outcome"]["included"]
        for client in included:
            expected[coordinate_of[client]] += 1 / len(included)
    model = _model(ended)
    assert len(expected) >= 6
    assert max(abs(value - expected[u]) for u, value in enumerate(model)) < 1 / 1000


def test_no_acknowledged_update_is_left_out(ended):
    for report in ended.view.published():
        stored = {update["client"] for update in report["submissions"]}
        assert stored == set(report["outcome"]["included"])
        assert {update["state"] for update in report["submissions"]} == {"included"}


def test_faults_were_real(ended):
    """Rounds of four and of six clients, and some that went on without somebody."""
    sizes = Counter(len(r["outcome"]["included"]) for r in ended.view.published())
    assert {4, 5, 6} <= sizes.keys()


def _ordinals(ended: Scenario) -> dict[str, int]:
    key_server = ended.federation.container("keyserver")
    token = ended.federation.read(key_server, "/run/fedperm/operator-token").decode()
    with ended.federation.http(KEY_SERVER) as http:
        answer = http.get("/v1/keys/demo/clients", headers={"Authorization": f"Bearer {token}"})
    return {client["client"]: client["ordinal"] for client in answer.json()["clients"]}


def _model(ended: Scenario) -> list[float]:
    client = ended.federation.containers("client")[0]
    (values,) = load(ended.federation.read(client, f"{STATE}/runs/demo/model.safetensors")).values()
    return [float(value) for value in values.ravel()]
