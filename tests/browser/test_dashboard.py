"""What people see: a run from its start to its end, as the interface tells it, whatever the line
does; nothing from outside, no error, nothing that some cannot read."""

import base64
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("playwright", reason="no playwright: pip install -r requirements-dev.txt")

from tests.browser.browser import LARGE, PHONE, violations
from tests.browser.watched import BUDGET, CLIENTS, ROUNDS, Watched, watched

SCREENSHOTS = Path(__file__).parents[2] / "out" / "screenshots"
MOST_OCTETS = 500_000
LOST = "Connection lost, trying again"
NOTHING = "\N{EN DASH}"


def text(seen: Watched, selector: str) -> str:
    return seen.page.inner_text(selector)


def rows(seen: Watched, title: str) -> list[list[str]]:
    """The cells of a table that is folded away beside a chart, once it is opened."""
    folded = seen.page.locator("details:not([open]) > summary", has_text=title)
    if folded.count():
        folded.click()
    seen.page.wait_for_selector(f'[aria-label="{title}"] tbody tr')
    return seen.page.evaluate(
        """title => [...document.querySelectorAll(`[aria-label="${title}"] tbody tr`)]
             .map(row => [...row.children].map(cell => cell.textContent))""",
        title,
    )


def octets(value: int) -> str:
    unit, size = ("MB", 1e6) if value >= 1e6 else ("kB", 1e3)
    return f"{value / size:.{0 if value >= 100 * size else 2}f} {unit}"


def digits(value: float, count: int) -> str:
    return f"{value:#.{count}g}"


def a_run_is_seen_from_start_to_end(seen: Watched):
    assert seen.phases[0].startswith("Waiting: waits for clients")
    assert any(phase.startswith("Collecting updates") for phase in seen.phases)
    assert seen.phases[-1].startswith("Completed")


def a_lost_connection_is_shown_and_comes_back(seen: Watched):
    assert seen.connections[0] == "Live"
    assert LOST in seen.connections
    assert seen.connections[-1] == "Live"


def accuracy_and_loss_are_the_interfaces(seen: Watched):
    """As the operator opens them: in the interface they are sealed."""
    expected = []
    assert all(named.report.measured is None for r in seen.api.rounds for named in r.reports)
    for report in seen.api.opened:
        tests = [named.report.test for named in report.reports]
        (accuracy,) = {test.accuracy for test in tests}
        loss = min(test.loss for test in tests)  # the lower one of two is the middle
        number = str(report.outcome.round)
        expected.append(
            [
                number,
                "published",
                f"{CLIENTS} of {CLIENTS}",
                f"{100 * accuracy:.1f} %",
                digits(loss, 4),
                str(CLIENTS),
            ]
        )
    assert len(expected) == ROUNDS
    assert rows(seen, "Numbers of all rounds") == expected
    assert text(seen, "#tile-accuracy") == expected[-1][3]


def charts_are_drawn(seen: Watched):
    charts = {
        "Test accuracy by round": ("circle", ROUNDS),
        "Test loss by round": ("circle", ROUNDS),
        "Norm of each client's update": ("circle", CLIENTS),
        "Octets received by round": ("rect", ROUNDS),
        "Seconds of the aggregator": ("rect", ROUNDS),
        "Seconds of a client": ("rect", ROUNDS),
    }
    for label, (shape, at_least) in charts.items():
        marks = seen.page.locator(f'.chart svg[aria-label^="{label}"] {shape}')
        assert marks.count() >= at_least, label
        assert marks.first.is_visible()


def updates_and_norms_are_the_interfaces(seen: Watched):
    newest = seen.api.rounds[-1]
    expected = [
        [
            update.client,
            "included",
            digits(update.norm_before, 4),
            digits(update.norm_after, 4),
            octets(update.size),
        ]
        for update in newest.updates
    ]
    assert rows(seen, "Every client's update of this round") == expected
    seen.page.select_option("#norms-round", "1")
    seen.page.wait_for_selector("#norms-note:has-text('Round 1')")
    first = [digits(update.norm_before, 4) for update in seen.api.rounds[0].updates]
    assert [row[2] for row in rows(seen, "Every client's update of this round")] == first


def seconds_and_bytes_are_the_interfaces(seen: Watched):
    received = [sum(update.size for update in report.updates) for report in seen.api.rounds]
    shown = rows(seen, "Bytes of all rounds")
    assert [up for _, _, up, _ in shown] == [octets(size) for size in received]
    assert text(seen, "#tile-received") == octets(sum(received))
    seconds = [report.seconds for report in seen.api.rounds]
    shown = rows(seen, "Seconds by phase, all rounds")
    assert [row[-2:] for row in shown] == [[_seconds(s.open), _seconds(s.fold)] for s in seconds]


def _seconds(value: float) -> str:
    if value < 1:
        return f"{1000 * value:.0f} ms"
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def participants_and_key_are_the_interfaces(seen: Watched):
    shown = text(seen, "#clients")
    for update in seen.api.rounds[-1].updates:
        assert re.search(rf"{update.client}\s+[a-z]+\s+in the sum", shown)
    key = text(seen, "#key")
    assert "paillier, 512 bits" in key
    assert "1 of key main" in key
    record = seen.page.evaluate("document.querySelector('#key .code').textContent")
    assert _key_id(seen) == record.replace(" ", "")


def _key_id(seen: Watched) -> str:
    """As the signed record says it; its signature is another test's."""
    (epoch,) = seen.api.epochs
    payload = epoch.record.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["key_id"]


def the_privacy_spent_is_that_of_the_clients_ledgers(seen: Watched):
    ledgers = [named.report.ledger for named in seen.api.rounds[-1].reports]
    assert {ledger.charges for ledger in ledgers} == {ROUNDS}
    spent = max(ledger.epsilon for ledger in ledgers)
    shown = text(seen, "#privacy")
    amount = float(re.search(r"ε ([\d.]+) of 200", shown)[1])
    assert spent <= amount <= spent * 1.001
    assert f"{100 * spent / BUDGET:.1f} % of the budget" in shown
    for unit in ("all others known", "One record of a client's data", "A client's whole update"):
        assert unit in shown


def nothing_is_asked_of_another_host(seen: Watched):
    hosts = {urlsplit(url).netloc for url in seen.record.requests}
    assert hosts == {urlsplit(seen.address).netloc}


def no_errors_but_those_of_the_broken_line(seen: Watched):
    broken = re.compile(r"net::ERR_\w+ at http\S+/(session|live\?after=\d+)$")
    assert any(broken.search(error) for error in seen.record.errors)
    assert [error for error in seen.record.errors if not broken.search(error)] == []


def the_page_is_light(seen: Watched):
    assert len(seen.record.octets) > 10
    assert sum(seen.record.octets.values()) < MOST_OCTETS


def no_secret_is_on_the_page_or_in_its_address(seen: Watched):
    content = seen.page.content()
    assert seen.world.run_operator not in content
    assert seen.world.folder.login_link.read_text().partition("#")[2].strip() not in content
    assert seen.page.evaluate("document.cookie") == ""
    assert urlsplit(seen.page.url).fragment == "run/demo"
    visited = [entry for entry in seen.record.requests if "#" in entry]
    assert visited == []


def pictures_show_the_shuffle(seen: Watched):
    canvases = seen.page.locator("#sight canvas")
    assert canvases.count() == 4
    before = canvases.nth(0).evaluate("canvas => canvas.toDataURL()")
    seen.page.check("#with-noise")
    assert seen.page.locator("#sight canvas").nth(0).evaluate("c => c.toDataURL()") != before
    seen.page.uncheck("#with-noise")


def everybody_can_read_it(seen: Watched):
    page = seen.page
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    for scheme, size in (("light", PHONE), ("dark", LARGE), ("light", LARGE)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(size)
        assert violations(page) == []
        assert page.evaluate(overflow) == 0
        seen.photograph(f"run-{scheme}-{size['width']}")


def it_can_be_used_with_the_keyboard_alone(seen: Watched):
    page = seen.page
    page.set_viewport_size(LARGE)
    page.reload()
    page.wait_for_selector("#sight canvas")
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim()"))
    assert reached[:4] == ["Skip to the content", "FedPerm", "Runs", "Log out"]
    assert "Numbers of all rounds" in reached
    assert page.locator("details table").count() == 0
    page.focus("summary")
    page.keyboard.press("Enter")
    page.locator("details[open] table").wait_for()


def the_other_pages_and_the_way_out(seen: Watched):
    page = seen.page
    page.click("text=Runs")
    page.wait_for_selector(".runs a")
    assert "Round 3 of 3" in text(seen, ".runs")
    assert violations(page) == []
    seen.photograph("runs")
    page.click("text=Log out")
    page.wait_for_url("**/dashboard/login")
    assert violations(page) == []
    page.goto(f"{seen.address}/dashboard")
    assert page.url.endswith("/dashboard/login")
    page.fill("#token", "a wrong one")
    page.click("text=Log in")
    assert "This link was used before" in text(seen, "[role=alert]")
    assert violations(page) == []
    seen.photograph("login")


def another_link_opens_where_one_was_refused(seen: Watched):
    _, _, secret = seen.world.folder.login_link.read_text().strip().partition("#")
    seen.page.goto(f"{seen.address}/dashboard/login#{secret}")
    seen.page.wait_for_selector(".runs a")
    assert seen.page.url == f"{seen.address}/dashboard"


def the_aggregators_own_page_shows_the_rest(seen: Watched):
    page, own = seen.page, seen.world.aggregator.address
    page.goto(f"{own}/dashboard")
    page.fill("#token", seen.world.run_operator)
    page.click("text=Log in")
    page.click("text=demo")
    page.wait_for_selector(f"#phase:has-text('all {ROUNDS} rounds are done')")
    assert text(seen, "#tile-accuracy") == text(seen, "#tile-loss") == NOTHING
    assert "fedperm dashboard shows it" in text(seen, "#quality-note")
    assert [row[3:] for row in rows(seen, "Numbers of all rounds")] == [
        [NOTHING, NOTHING, "2"]
    ] * ROUNDS
    assert len(rows(seen, "Bytes of all rounds")) == ROUNDS
    assert violations(page) == []
    seen.photograph("aggregators-own")


CHECKS = (
    a_run_is_seen_from_start_to_end,
    a_lost_connection_is_shown_and_comes_back,
    accuracy_and_loss_are_the_interfaces,
    charts_are_drawn,
    updates_and_norms_are_the_interfaces,
    seconds_and_bytes_are_the_interfaces,
    participants_and_key_are_the_interfaces,
    the_privacy_spent_is_that_of_the_clients_ledgers,
    nothing_is_asked_of_another_host,
    no_errors_but_those_of_the_broken_line,
    the_page_is_light,
    no_secret_is_on_the_page_or_in_its_address,
    pictures_show_the_shuffle,
    everybody_can_read_it,
    it_can_be_used_with_the_keyboard_alone,
    the_other_pages_and_the_way_out,
    another_link_opens_where_one_was_refused,
    the_aggregators_own_page_shows_the_rest,
)


@pytest.mark.system
def test_a_run_in_a_browser(tmp_path):
    """One test: a federation and a browser take their time."""
    with watched(tmp_path, SCREENSHOTS) as seen:
        for check in CHECKS:
            check(seen)
