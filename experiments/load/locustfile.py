"""The aggregator's control endpoints under load, with locust; docs/load-testing.md has the steps.

There are never more users than visitors, and only servers on this machine are asked: what is
measured is how quick the small requests are, not how much a machine of others can bear.
"""

import json
import os
from pathlib import Path
from urllib.parse import urlsplit

from locust import HttpUser, between, events, task
from locust.env import Environment
from locust.exception import StopUser

MADE = json.loads(Path(os.environ["FEDPERM_VISITORS"]).read_text())
OPERATOR_TOKEN = Path(os.environ["FEDPERM_RUN_OPERATOR_TOKEN_FILE"]).read_text().strip()
RUN = f"/v1/runs/{MADE['run']}"
WAITING = list(MADE["visitors"])


@events.init.add_listener
def refuse_servers_of_others(environment: Environment, **_: object) -> None:
    if urlsplit(environment.host or "").hostname not in {"127.0.0.1", "localhost", "::1"}:
        raise SystemExit("only servers on this machine are asked: give one with --host")


class Visitor(HttpUser):
    """One client and, now and then, the operator who looks at the run."""

    wait_time = between(0.05, 0.25)

    def on_start(self) -> None:
        if not WAITING:
            raise StopUser("more users than visitors")
        visitor = WAITING.pop()
        self.client.verify = os.environ.get("FEDPERM_CA_FILE") or True
        self.place = f"{RUN}/participants/{visitor['client']}"
        self.own = {"Authorization": f"Bearer {visitor['access_token']}"}
        self.operator = {"Authorization": f"Bearer {OPERATOR_TOKEN}"}

    @task(10)
    def next_task(self) -> None:
        self.client.get(
            f"{self.place}/task?settled=0&wait_seconds=0", headers=self.own, name="task"
        )

    @task(5)
    def heartbeat(self) -> None:
        beat = {"phase": "idle", "round": 0}
        self.client.put(f"{self.place}/heartbeat", json=beat, headers=self.own, name="heartbeat")

    @task(2)
    def status(self) -> None:
        self.client.get(RUN, headers=self.operator, name="run")

    @task(2)
    def rounds(self) -> None:
        self.client.get(f"{RUN}/rounds", headers=self.operator, name="rounds")

    @task(1)
    def ready(self) -> None:
        self.client.get("/readyz")

    @task(1)
    def metrics(self) -> None:
        self.client.get("/metrics")
