"""What a run gave."""

from dataclasses import asdict, dataclass
from typing import Any

from fedperm.privacy.report import PrivacyReport
from fedperm.wire.aggregator import RunState
from fedperm_cli.measures import counted
from fedperm_cli.run.created_pages import privacy_document
from fedperm_cli.run.round_summary import RoundSummary


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """`document` is the SHA-256 of the run's document; without noise there is no `report`."""

    state: RunState
    reason: str
    document: str
    parameters: int
    rounds: tuple[RoundSummary, ...]
    report: PrivacyReport | None

    @property
    def completed(self) -> bool:
        return self.state is RunState.COMPLETED

    @property
    def verdict(self) -> str:
        if self.completed:
            return f"the run completed after {counted(len(self.rounds), 'round')}"
        return f"the run {self.state}: {self.reason or 'by an operator'}"

    def members(self) -> dict[str, Any]:
        """Of the JSON object that a command prints."""
        return {
            "state": self.state,
            "reason": self.reason,
            "document": self.document,
            "parameters": self.parameters,
            "rounds": [asdict(summary) for summary in self.rounds],
            "privacy": privacy_document(self.report),
        }
