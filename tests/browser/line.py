"""The way of the page to its server. It breaks once, in the middle of a message."""

from tests.chaos.faults import Fault, FaultKind, RequestLine

FIRST_STREAM = 6_000
"""Octets of the run's first stream that arrive: the run is under way then."""
REFUSED = 4
"""So often the page cannot even ask whether it is still logged in; the browser itself tries more
than once."""


class Line:
    def __init__(self) -> None:
        self._is_cut = False
        self._refused = 0

    def plan(self, request: RequestLine) -> Fault | None:
        if request.path.startswith("/dashboard/api/runs/demo/live") and not self._is_cut:
            self._is_cut = True
            return Fault(FaultKind.CUT_ANSWER, octets=FIRST_STREAM)
        if request.path == "/dashboard/api/session" and self._is_cut and self._refused < REFUSED:
            self._refused += 1
            return Fault(FaultKind.DROP)
        return None

    def sent(self, request: RequestLine, body: bytes) -> None:
        """Nobody asks here."""

    def answered(self, request: RequestLine, status: int) -> None:
        """Nobody asks here."""

    def met(self, fault: Fault) -> None:
        """Nobody asks here."""
