"""What was measured, and whether it is as good as promised."""

from rich.console import Group, RenderableType
from rich.table import Table

from experiments.cheapest_request.shots import ENROLLED, OUTSIDER
from experiments.paper.records import Origin
from fedperm.wire.message import Many, Message
from fedperm_cli.pages import facts, heading, listing

MOST_OUTSIDER_MS = 5.0
MOST_LIVEZ_MS = 100.0
_SHOWN = 5


class Cost(Message):
    """Of one kind of request; `statuses` counts the answers."""

    name: str
    server: str
    sender: str
    octets: int
    requests: int
    statuses: dict[str, int]
    server_ms: float
    """CPU a request, all threads of the server."""
    sender_ms: float

    @property
    def ratio(self) -> float:
        return self.server_ms / self.sender_ms


class Flood(Message):
    """`livez_ms` are medians, one for each time that it was tried; `calm_ms` that of a server
    that nobody floods."""

    name: str
    server: str
    sender: str
    connections: int
    limits: str
    seconds: float
    statuses: dict[str, int]
    calm_ms: float
    livez_ms: Many[float]

    @property
    def rate(self) -> float:
        """Answers a second."""
        return sum(self.statuses.values()) / self.seconds

    @property
    def best_ms(self) -> float:
        return min(self.livez_ms)


class Unread(Message):
    """All places of a server are taken by connections that read nothing."""

    places: int
    unread_seconds: float
    refused_newcomers: bool
    admitted_after_seconds: float
    held_livez_ms: float
    """Median of somebody who was there before."""


class CheapestRequest(Message):
    origin: Origin
    key_bits: int
    costs: Many[Cost]
    floods: Many[Flood]
    unread: Unread

    def shortcomings(self) -> list[str]:
        """In words; of times the best of several tries counts, on a machine that others use."""
        dear = [c for c in self.costs if c.sender == OUTSIDER and c.server_ms > MOST_OUTSIDER_MS]
        slow = [f for f in self.floods if f.best_ms > MOST_LIVEZ_MS]
        late = 2 * self.unread.unread_seconds
        return [
            *(f"{c.name}: {c.server_ms:.2f} ms of the server's CPU" for c in dear),
            *(f"{f.name}: /livez takes {f.best_ms:.0f} ms at the median" for f in slow),
            *(
                [f"unread answers held all places for {self.unread.admitted_after_seconds:.1f} s"]
                if self.unread.admitted_after_seconds > late
                else []
            ),
        ]


def page(report: CheapestRequest) -> RenderableType:
    unread = report.unread
    return Group(
        heading("CPU a request"),
        _costs(report),
        heading("/livez while others flood"),
        _floods(report),
        heading("Answers that nobody reads"),
        facts(
            ("places, all taken", str(unread.places)),
            ("newcomers were refused", "yes" if unread.refused_newcomers else "no"),
            ("a newcomer was admitted after", f"{unread.admitted_after_seconds:.1f} s"),
            ("the setting", f"{unread.unread_seconds:g} s"),
            ("/livez of one who was there before", f"{unread.held_livez_ms:.1f} ms"),
        ),
    )


def _costs(report: CheapestRequest) -> Table:
    numbers = ("octets", "server ms", "sender ms", "ratio")
    table = listing("request", "server", "sender", "answers", *numbers, right=numbers)
    for cost in sorted(report.costs, key=lambda c: (c.sender, -c.server_ms)):
        table.add_row(
            *(cost.name, cost.server, cost.sender, _counted(cost.statuses)),
            *(f"{cost.octets:,}", f"{cost.server_ms:.2f}", f"{cost.sender_ms:.3f}"),
            f"{cost.ratio:.0f}",
        )
    return table


def _floods(report: CheapestRequest) -> Table:
    numbers = ("requests a second", "calm ms", "median ms, each try")
    table = listing("request", "sender", "limits", "answers", *numbers, right=numbers)
    for flood in report.floods:
        table.add_row(
            *(f"{flood.name}, {flood.connections} connections", flood.sender, flood.limits),
            *(_counted(flood.statuses), f"{flood.rate:.0f}", f"{flood.calm_ms:.1f}"),
            _tries(flood),
        )
    return table


def _counted(statuses: dict[str, int]) -> str:
    return ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items()))


def as_markdown(report: CheapestRequest) -> str:
    """The tables of docs/operations.md."""
    rows = [
        "| request | by | CPU of the server | of the sender |",
        "|---|---|---|---|",
        *(
            f"| {c.name} | {c.sender} | {c.server_ms:.1f} ms | {c.sender_ms:.2f} ms |"
            for c in _dearest(report, OUTSIDER) + _dearest(report, ENROLLED)
        ),
        "",
        "| four connections of | limits | requests a second | `/livez` at the median, each try |",
        "|---|---|---|---|",
        *(
            f"| {f.name}, {f.sender} | {f.limits} | {f.rate:.0f} | {_tries(f)} ms |"
            for f in report.floods
        ),
        "",
        f"{report.unread.places} connections that read nothing held all places of a server with",
        f"`UNREAD_SECONDS={report.unread.unread_seconds:g}` for "
        f"{report.unread.admitted_after_seconds:.1f} s; somebody who was there before was answered",
        f"in {report.unread.held_livez_ms:.1f} ms meanwhile.",
    ]
    return "\n".join(rows)


def _dearest(report: CheapestRequest, sender: str) -> list[Cost]:
    costs = (cost for cost in report.costs if cost.sender == sender)
    return sorted(costs, key=lambda cost: -cost.server_ms)[:_SHOWN]


def _tries(flood: Flood) -> str:
    return ", ".join(f"{ms:.1f}" for ms in flood.livez_ms)
