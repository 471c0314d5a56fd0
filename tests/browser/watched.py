"""A real federation, watched from its start to its end in a real browser: the run operator's page,
over a bad line."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from playwright.sync_api import Page

from fedperm.wire.aggregator import KeyEpoch, RoundReport, RunStatus
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.operator.reports import ReportOpener
from fedperm_client.initial_model import initial_model
from tests.browser.browser import Record, opened_page
from tests.browser.line import Line
from tests.chaos.network import Network
from tests.client.documents import document
from tests.federation.world import World, world

CLIENTS = 2
ROUNDS = 3
BUDGET = 200.0
Answer = TypeVar("Answer")

LAST_REPORT = (
    f"[aria-label='Numbers of all rounds'] tbody tr:nth-child({ROUNDS}) td:text-is('{CLIENTS}')"
)
NOTE_EVERYTHING = """() => {
  window.noted = {phases: [], connections: []};
  const note = (list, text) => { if (text && list.at(-1) !== text) list.push(text); };
  const look = () => {
    note(noted.phases, document.querySelector("#phase span")?.textContent);
    note(noted.connections, document.querySelector("#connection").textContent);
  };
  new MutationObserver(look).observe(document.body, {subtree: true, childList: true});
  look();
}"""


@dataclass(frozen=True)
class Api:
    """What the interface says of the run when it is over; `opened` with the operator's key."""

    status: RunStatus
    rounds: tuple[RoundReport, ...]
    opened: tuple[RoundReport, ...]
    epochs: tuple[KeyEpoch, ...]


@dataclass(frozen=True)
class Watched:
    page: Page
    record: Record
    address: str
    world: World
    api: Api
    phases: list[str]
    connections: list[str]
    screenshots: Path

    def photograph(self, name: str, *, whole: bool = True) -> None:
        self.page.screenshot(path=self.screenshots / f"{name}.png", full_page=whole)


@contextmanager
def watched(folder: Path, screenshots: Path) -> Iterator[Watched]:
    screenshots.mkdir(parents=True, exist_ok=True)
    line = Line()
    with opened_page() as (page, record), world(folder) as here, Network(line) as network:
        _apart(lambda: _create(here))
        site, _, secret = here.start_dashboard().partition("/dashboard/login")
        address = network.link(site, line.plan)
        page.goto(f"{address}/dashboard/login{secret}")
        page.click("text=demo")
        page.wait_for_selector("#phase")
        page.evaluate(NOTE_EVERYTHING)
        _apart(lambda: _take_part(here))
        page.wait_for_selector(f"#phase:has-text('all {ROUNDS} rounds are done')")
        page.click("text=Numbers of all rounds")
        page.wait_for_selector(LAST_REPORT)
        api = _apart(lambda: _api(here))
        noted = page.evaluate("noted")
        yield Watched(
            page,
            record,
            address,
            here,
            api,
            noted["phases"],
            noted["connections"],
            screenshots,
        )


def _create(here: World) -> None:
    initial = initial_model("digits", {}, seed=0)
    rounds = {
        "count": ROUNDS,
        "clients_per_round": CLIENTS,
        "min_contributors": CLIENTS,
        "start_with": CLIENTS,
        "deadline_seconds": 300.0,
        "extension_seconds": 30.0,
    }
    training = {"learning_rate": 3.0, "record_clip_norm": 2.0, "min_records": 200}
    wanted = document(initial, rounds=rounds, training=training)
    here.create_run(wanted.model_dump(mode="json", exclude={"key"}), initial)


def _take_part(here: World) -> None:
    """Until all clients have seen the end, and have reported."""
    clients = [
        here.start_client(f"{n}", max_epsilon=BUDGET, min_contributors=CLIENTS)
        for n in range(CLIENTS)
    ]
    assert [client.wait(180) for client in clients] == [0] * CLIENTS


def _api(here: World) -> Api:
    operator = here.run_operator
    rounds = here.ask(lambda api: api.rounds(here.run, operator)).rounds
    document = here.ask(lambda api: api.document(here.run, operator))
    opener = ReportOpener.of(document, OperatorIdentity.found_at(here.folder.operator_keys))
    return Api(
        here.ask(lambda api: api.run(here.run, operator)),
        rounds,
        tuple(opener.open(report).report for report in rounds),
        here.ask(lambda api: api.key_epochs(here.run, operator)).epochs,
    )


def _apart(work: Callable[[], Answer]) -> Answer:
    """In a thread without an event loop: the browser's driver has one in this."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()
