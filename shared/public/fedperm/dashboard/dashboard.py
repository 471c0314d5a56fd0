"""Everything that the page's routes may call."""

from dataclasses import dataclass
from random import Random
from typing import Self

from fedperm.clock import Clock
from fedperm.dashboard.entrance import Entrance
from fedperm.dashboard.live import Live
from fedperm.dashboard.presenter import facts
from fedperm.dashboard.reading import Reading
from fedperm.dashboard.sessions import Sessions
from fedperm.dashboard.source import RunSource
from fedperm.dashboard.views import Facts
from fedperm.ids import RoundNumber, RunName
from fedperm.run_notifier import RunNotifier
from fedperm.web.rate_limit import RateLimit
from fedperm.wire.aggregator import RoundReport

LOGIN_BURST, LOGINS_PER_SECOND = 10, 0.5
"""From one address."""


@dataclass(frozen=True)
class Dashboard:
    entrance: Entrance
    sessions: Sessions
    logins: RateLimit
    live: Live
    source: RunSource

    @classmethod
    def of(
        cls,
        source: RunSource,
        reading: Reading,
        entrance: Entrance,
        notifier: RunNotifier,
        clock: Clock,
        randomness: Random,
        session_seconds: float,
    ) -> Self:
        """`notifier` announces what happens to the source's runs, and that the server stops."""
        return cls(
            entrance=entrance,
            sessions=Sessions(entrance.door, clock, randomness, session_seconds),
            logins=RateLimit(LOGIN_BURST, LOGINS_PER_SECOND, clock),
            live=Live(source, reading, clock, notifier),
            source=source,
        )

    async def facts(self, run: RunName) -> Facts:
        return facts(await self.source.document(run))

    async def round(self, run: RunName, number: RoundNumber) -> RoundReport:
        (report,) = await self.source.rounds(run, [number])
        return report
