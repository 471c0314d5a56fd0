"""`fedperm dashboard` as a process beside a real aggregator: a link, a page, a clean end."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.cli.command_line import COMMAND
from tests.cli.operator import Operator
from tests.cli.servers import Servers
from tests.cli.small_run import FinishedRun, make_run, two_clients_at_work

SECONDS = 30.0


@dataclass(frozen=True)
class Served:
    """A dashboard that runs, and somebody who has logged in."""

    process: "subprocess.Popen[str]"
    browser: httpx.Client

    def next_link(self) -> str:
        """As programs read it."""
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        return json.loads(line)["link"]

    def log_in(self, link: str) -> int:
        parts = urlsplit(link)
        origin = {"Origin": f"{parts.scheme}://{parts.netloc}"}
        form = {"token": parts.fragment}
        return self.browser.post(parts.path, data=form, headers=origin).status_code

    def news(self, run: str, *, until: str) -> list[dict[str, Any]]:
        """The stream's messages about the run, up to one that holds these words."""
        told = []
        with self.browser.stream("GET", f"/dashboard/api/runs/{run}/live") as stream:
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    told.append(json.loads(line.removeprefix("data: ")))
                    if until in line:
                        return told
        return told


@contextmanager
def served(operator: Operator, *options: str) -> Iterator[Served]:
    command = [str(COMMAND), "dashboard", "--port", "0", "--json", *options]
    with subprocess.Popen(
        command,
        env=operator.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            with httpx.Client(timeout=SECONDS) as browser:
                here = Served(process, browser)
                link = here.next_link()
                if "--link-file" in options:
                    assert "#" not in link
                    link = Path(options[-1]).read_text().strip()
                browser.base_url = link.partition("/dashboard")[0]
                assert here.log_in(link) == 303
                yield here
        finally:
            process.kill()


@pytest.fixture(autouse=True)
def _key_file(operator: Operator) -> None:
    """As whoever made a run has it."""
    operator.json("operator", "show")


def test_it_shows_a_run_and_ends_at_ctrl_c(
    operator: Operator, finished_run: FinishedRun, tmp_path: Path
) -> None:
    file = tmp_path / "link"
    with served(operator, "--link-file", str(file)) as here:
        rounds, now = here.news(finished_run.run, until="progress")
        assert [one["accuracy"] for one in rounds["rounds"]] == [0.75, 0.75]
        assert now["status"]["state"] == "completed"
        assert file.read_text().startswith(f"{here.next_link()}#")
        assert file.stat().st_mode & 0o777 == 0o600
        assert here.browser.get("/dashboard", headers={"Host": "evil.example"}).status_code == 400
        token = Path(operator.environment["FEDPERM_RUN_OPERATOR_TOKEN_FILE"]).read_text()
        assert here.log_in(f"{here.browser.base_url}/dashboard/login#{token}") == 403
        here.process.send_signal(signal.SIGINT)
        assert here.process.wait(SECONDS) == 0
        assert here.process.stderr.read() == ""
        assert not file.exists()


def test_it_ends_while_somebody_watches(operator: Operator, finished_run: FinishedRun) -> None:
    with (
        served(operator) as here,
        here.browser.stream("GET", f"/dashboard/api/runs/{finished_run.run}/live") as stream,
    ):
        lines = stream.iter_lines()
        next(lines)
        here.process.terminate()
        assert list(lines)  # to its end
        assert here.process.wait(SECONDS) == 0


def test_it_goes_on_with_an_aggregator_that_was_restarted(
    operator: Operator, servers: Servers, tmp_path: Path
) -> None:
    run = make_run(operator, tmp_path, "seen-again", key="seen-again")
    with served(operator) as here:
        assert here.news(run, until="progress")
        servers.aggregator.kill()
        assert here.browser.get(f"/dashboard/api/runs/{run}/rounds/1").status_code == 503
        servers.aggregator.restart()
        servers.aggregator.wait_until_ready()
        with two_clients_at_work(operator, run, run):
            told = here.news(run, until='"all 2 rounds are done"')
    numbers = {one["number"] for news in told for one in news.get("rounds", [])}
    assert numbers == {1, 2}


def test_what_is_wrong_is_said_before_anything_is_served(
    operator: Operator, tmp_path: Path
) -> None:
    wrong = tmp_path / "token"
    wrong.write_text("a-token-that-is-not-the-operators")
    assert operator("dashboard", "--run-operator-token-file", str(wrong)).returncode == 3
    assert operator("dashboard", "--aggregator", "http://127.0.0.1:1").returncode == 4
    finished = operator("dashboard", "--run-operator-key-file", str(tmp_path / "none"))
    assert finished.returncode == 2
    assert "the run operator's key file" in finished.stderr
    assert not (tmp_path / "none").exists()  # a new key would open nothing


def test_a_port_or_place_that_cannot_be_had_is_refused(operator: Operator, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = refused(operator, "--port", str(taken.getsockname()[1]))
    assert code == 2
    assert "cannot listen on 127.0.0.1" in said
    code, said = refused(operator, "--port", "0", "--link-file", str(tmp_path / "none" / "link"))
    assert code == 2
    assert "choose another place with --link-file" in said


def refused(operator: Operator, *options: str) -> tuple[int, str]:
    """As a process: whoever serves takes over signals and logs."""
    command = [str(COMMAND), "dashboard", *options]
    finished = subprocess.run(
        command, env=operator.environment, capture_output=True, text=True, check=False
    )
    return finished.returncode, finished.stderr
