"""The background loop: everything that happens without being asked for."""

import asyncio
import logging

from fedperm.errors import BusyError
from fedperm.run_notifier import RunNotifier
from fedperm_aggregator.event_fanout import EventFanout
from fedperm_aggregator.housekeeping import Housekeeping
from fedperm_aggregator.jobs.runner import JobRunner
from fedperm_aggregator.presence import Attendance
from fedperm_aggregator.rounds.scheduler import Scheduler

log = logging.getLogger(__name__)


class BackgroundLoop:
    """Tests call `tick` and `drain` by hand; the service runs the loop."""

    def __init__(
        self,
        scheduler: Scheduler,
        jobs: JobRunner,
        attendance: Attendance,
        housekeeping: Housekeeping,
        fanout: EventFanout,
        notifier: RunNotifier,
    ) -> None:
        self._scheduler = scheduler
        self._jobs = jobs
        self._attendance = attendance
        self._housekeeping = housekeeping
        self._fanout = fanout
        self._notifier = notifier
        self._trouble = ""
        self._is_stopping = False

    async def tick(self) -> None:
        """Everything that is due now. Jobs are started, not waited for."""
        await asyncio.to_thread(self._work)
        for run in await asyncio.to_thread(self._fanout.read):
            self._notifier.announce(run)

    async def drain(self) -> None:
        """Until the jobs that were started are done."""
        await asyncio.to_thread(self._jobs.finish)

    async def run(self, tick_seconds: float) -> None:
        """Until it is to leave off. A tick that fails is logged and tried again: what it could
        not do is still in the database."""
        while not self._is_stopping:
            try:
                await self.tick()
                self._note(None)
            except Exception as error:
                self._note(error)
            await asyncio.to_thread(self._jobs.rest, tick_seconds)

    def start(self) -> None:
        """Takes up what a former process left. Nobody else may work on this state."""
        self._housekeeping.sweep()
        self._attendance.load()
        self._jobs.take_over()

    def leave_off(self) -> None:
        """The loop ends after its tick."""
        self._is_stopping = True

    def stop(self) -> None:
        """After the loop: jobs that are not done are given back."""
        self._jobs.stop()

    def check(self) -> None:
        """Raises if the loop is in trouble, or its jobs are."""
        if self._trouble:
            raise BusyError(f"the last tick failed: {self._trouble}", "the log says more")
        self._jobs.check()

    def _note(self, error: Exception | None) -> None:
        """Said once, not at every tick: a full disk must not be filled by its own log."""
        trouble = type(error).__name__ if error else ""
        if trouble != self._trouble:
            self._trouble = trouble
            if error:
                log.error("a tick failed", exc_info=error)
            else:
                log.info("ticks succeed again")

    def _work(self) -> None:
        self._jobs.keep_leases()
        self._scheduler.move_all()
        self._jobs.start_jobs()
        self._housekeeping.scrub()
        self._attendance.save()
