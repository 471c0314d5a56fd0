"""Follows a run until it is over."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Protocol

from fedperm.ids import RoundNumber, RunName
from fedperm.wire.aggregator import RunState, RunStatus
from fedperm.wire.events import Event, EventKind
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.operator.reports import ReportOpener
from fedperm_cli.run.event_stream import events_of
from fedperm_cli.run.round_progress import FinishedRounds, RoundProgress, progress_after
from fedperm_cli.run.round_summary import RoundSummary, summarise
from fedperm_cli.servers.sessions import RunOperator

LAST_REPORTS_SECONDS = 20.0
"""Clients decrypt and test the last average after the run is over."""

_OVER = {EventKind.RUN_COMPLETED, EventKind.RUN_FAILED}
_NOTES = {
    EventKind.RUN_STOPPED: "stopped: goes on with fedperm run resume",
    EventKind.RUN_RESUMED: "resumed",
    EventKind.KEY_COMPROMISED: "the key is compromised: revoke the client and rotate the key",
    EventKind.JOB_FAILED: "a job of the aggregator failed; its log says why",
}


class View(Protocol):
    """What a person or program sees of it."""

    def tell_progress(self, progress: RoundProgress) -> None: ...

    def tell_round(self, summary: RoundSummary) -> None: ...

    def tell_note(self, note: str) -> None: ...


class Watch:
    """One run as its events unfold."""

    def __init__(
        self,
        operator: RunOperator,
        run: RunName,
        view: View,
        identity: OperatorIdentity | None = None,
    ) -> None:
        """Without the operator's `identity` reports stay sealed."""
        self._operator = operator
        self._run = run
        self._view = view
        self._identity = identity
        self._opener: ReportOpener | None = None
        self._progress: RoundProgress | None = None
        self._finished = FinishedRounds()

    async def until_over(self, *, or_stopped: bool = False) -> RunStatus:
        """A stopped run may be resumed, so it is waited for unless `or_stopped`."""
        await self._status()  # refuses at once what reconnecting would not mend
        async with aclosing(events_of(self._operator, self._run)) as events:
            async for event in events:
                await self._take(event)
                if event.event in _OVER or (or_stopped and await self._is_stopped_by(event)):
                    break
            await self._take_last_reports(events)
        return await self._status()

    async def _status(self) -> RunStatus:
        return await self._operator.api.run(self._run, self._operator.token)

    async def _is_stopped_by(self, event: Event) -> bool:
        """And was not resumed since: events of the past are told as well."""
        if event.event != EventKind.RUN_STOPPED:
            return False
        return (await self._status()).state is RunState.STOPPED

    async def _take_last_reports(self, events: AsyncIterator[Event]) -> None:
        try:
            async with asyncio.timeout(LAST_REPORTS_SECONDS):
                while self._finished.waiting:
                    await self._take(await anext(events))
        except TimeoutError:
            await self._tell_rounds(self._finished.rest())

    async def _take(self, event: Event) -> None:
        if event.event in _NOTES:
            self._view.tell_note(_note(event))
        progress = progress_after(event, self._progress)
        if progress is not None and progress != self._progress:
            self._view.tell_progress(progress)
        self._progress = progress
        await self._tell_rounds(self._finished.take(event))

    async def _tell_rounds(self, rounds: list[RoundNumber]) -> None:
        api, token = self._operator.api, self._operator.token
        for number in rounds:
            opened = (await self._opens()).open(await api.round_report(self._run, number, token))
            self._view.tell_round(summarise(opened.report))
            for complaint in opened.complaints:
                self._view.tell_note(complaint)

    async def _opens(self) -> ReportOpener:
        """The document never changes: it is read once."""
        if self._opener is None:
            frozen = await self._operator.api.document(self._run, self._operator.token)
            self._opener = ReportOpener.of(frozen, self._identity)
        return self._opener


def _note(event: Event) -> str:
    who = f" ({event.client})" if event.client else ""
    return f"{_NOTES[EventKind(event.event)]}{who}"
