"""One client of one run, from its enrolment to the end of the run."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fedperm.api.connection import LONGEST_PAUSE_SECONDS, Patience
from fedperm.errors import PeerError, RefusedError, UnreachableError
from fedperm_client.ending import Ending
from fedperm_client.enrolling import Enrolling
from fedperm_client.environment import Environment
from fedperm_client.taking_part import Finished, Stage, TakingPart

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 3.0
_TRANSIENT = {404, 429, 500, 502, 503, 504, 507}
"""Not there yet, or not able now. A run may be made after its clients have started."""


class Participant:
    """Takes one step at a time, so that it can be driven from outside, or runs by itself."""

    def __init__(self, environment: Environment, patience: Patience) -> None:
        self.stage: Stage = Enrolling(environment)
        self._patience = patience

    @property
    def is_finished(self) -> bool:
        return isinstance(self.stage, Finished)

    async def step(self) -> None:
        """One thing; after an error the participant is as before, and may try again."""
        self.stage = await self.stage.step()

    async def run(self) -> Ending:
        """Until the run is over."""
        async with self._heartbeat():
            while not isinstance(self.stage, Finished):
                await self._patient_step()
        return self.stage.ending

    async def _patient_step(self) -> None:
        """Waits out what may pass by itself. Each step that succeeds renews the patience."""
        waited, pause = 0.0, self._patience.first_pause_seconds
        while True:
            try:
                await self.step()
            except PeerError as error:
                if not _may_pass(error) or waited >= self._patience.seconds:
                    raise
                log.warning("not yet: %s; trying again in %.1f s", error, pause)
            else:
                return
            await self._patience.sleep(pause)
            waited, pause = waited + pause, min(2 * pause, LONGEST_PAUSE_SECONDS)

    @asynccontextmanager
    async def _heartbeat(self) -> AsyncIterator[None]:
        beating = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            beating.cancel()
            with suppress(asyncio.CancelledError):
                await beating

    async def _beat(self) -> None:
        """Apart from the work, which says itself what goes wrong."""
        while True:
            if isinstance(self.stage, TakingPart):
                try:
                    await self.stage.beat()
                except PeerError as error:
                    log.debug("a heartbeat was lost: %s", error)
            await asyncio.sleep(HEARTBEAT_SECONDS)


def _may_pass(error: PeerError) -> bool:
    if isinstance(error, RefusedError):
        return error.status in _TRANSIENT
    return isinstance(error, UnreachableError)
