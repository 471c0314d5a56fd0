"""Everything that the page's routes may call."""

from dataclasses import dataclass

from fedperm.schemes.paillier.public_key import PublicKey
from fedperm.web.rate_limit import RateLimit
from fedperm.wire.aggregator import RoundReport
from fedperm_aggregator.dashboard.demonstration import Demonstrations
from fedperm_aggregator.dashboard.facts import facts
from fedperm_aggregator.dashboard.live import Live
from fedperm_aggregator.dashboard.observer import Sources
from fedperm_aggregator.dashboard.sessions import Sessions
from fedperm_aggregator.dashboard.views import Demonstration, Facts

LOGIN_BURST, LOGINS_PER_SECOND = 10, 0.5
"""From one address."""


@dataclass(frozen=True)
class Dashboard:
    sessions: Sessions
    logins: RateLimit
    live: Live
    sources: Sources
    demonstrations: Demonstrations

    def facts(self, run: str) -> Facts:
        return facts(self.sources.documents.of(run))

    def round(self, run: str, number: int) -> RoundReport:
        return self.sources.rounds.report(run, number)

    def demonstration(self, run: str) -> Demonstration:
        document = self.sources.documents.of(run).content
        return self.demonstrations.of(document, self._public_key(run))

    def _public_key(self, run: str) -> PublicKey | None:
        epoch = self.sources.runs.status(run).epoch
        return self.sources.documents.terms(run, epoch).public_key if epoch else None
