"""Everything that the page's routes may call."""

from dataclasses import dataclass

from fedperm.ids import RoundNumber, RunName
from fedperm.web.rate_limit import RateLimit
from fedperm.wire.aggregator import RoundReport
from fedperm_aggregator.dashboard.live import Live
from fedperm_aggregator.dashboard.observer import Sources
from fedperm_aggregator.dashboard.presenter import facts
from fedperm_aggregator.dashboard.sessions import Sessions
from fedperm_aggregator.dashboard.views import Facts

LOGIN_BURST, LOGINS_PER_SECOND = 10, 0.5
"""From one address."""


@dataclass(frozen=True)
class Dashboard:
    sessions: Sessions
    logins: RateLimit
    live: Live
    sources: Sources

    def facts(self, run: RunName) -> Facts:
        return facts(self.sources.documents.of(run))

    def round(self, run: RunName, number: RoundNumber) -> RoundReport:
        return self.sources.rounds.report(run, number)
