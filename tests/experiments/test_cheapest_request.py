"""The committed figures are as good as promised, and the document's."""

import pytest

from experiments.cheapest_request.report import CheapestRequest, as_markdown
from experiments.cheapest_request.shots import OUTSIDER, request, unknown_members
from experiments.paper.records import COMMITTED

OPERATIONS = COMMITTED.parents[1] / "docs" / "operations.md"


@pytest.fixture
def report() -> CheapestRequest:
    return CheapestRequest.model_validate_json((COMMITTED / "cheapest_request.json").read_text())


def test_the_committed_figures_are_as_good_as_promised(report):
    assert report.shortcomings() == []
    assert not report.origin.commit.endswith("+")


def test_the_document_shows_them(report):
    assert as_markdown(report) in OPERATIONS.read_text()


def test_what_is_not_as_promised_is_said(report):
    dear, cheap = ({"sender": OUTSIDER, "server_ms": ms} for ms in (5.1, 4.9))
    costs = [report.costs[0].model_copy(update=one | {"name": "a"}) for one in (dear, cheap)]
    slow = report.floods[0].model_copy(update={"livez_ms": (101.0, 250.0), "name": "b"})
    quick = report.floods[0].model_copy(update={"livez_ms": (99.0, 250.0)})
    held = report.unread.model_copy(update={"unread_seconds": 3.0, "admitted_after_seconds": 6.1})
    changes = {"costs": tuple(costs), "floods": (slow, quick), "unread": held}
    assert report.model_copy(update=changes).shortcomings() == [
        "a: 5.10 ms of the server's CPU",
        "b: /livez takes 101 ms at the median",
        "unread answers held all places for 6.1 s",
    ]


def test_a_request_is_whole():
    body = unknown_members(40)
    assert body == b'{"0":0,"1":0,"2":0,"3":0,"4":0,"5":0}'
    assert request("PUT", "/a", body, {"B": "c"}) == (
        b"PUT /a HTTP/1.1\r\nHost: a\r\nB: c\r\nContent-Type: application/json\r\n"
        b"Content-Length: 37\r\n\r\n" + body
    )
