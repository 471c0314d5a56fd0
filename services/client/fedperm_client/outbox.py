"""Prepared submissions: on disk before they are sent, until nobody can ask for them any more.

A lost answer or a crash makes the client send the same bytes again. Fresh noise for the same
round would be a second release. What undoes the shuffle (patterns, blinding factors) is not kept.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from fedperm.crash_points import persisting
from fedperm.durable_file import TEMPORARY_SUFFIX, publish, write_durably
from fedperm.ids import EpochNumber, RoundNumber
from fedperm.submissions import UPDATE, SubmissionKind

_NAME = re.compile(r"round-(\d+)(?:-([a-z][a-z-]*))?-epoch-(\d+)\.(prepared|acknowledged)")
"""Without a kind it is an update: layout 1 of the state directory knew no other."""


@dataclass(frozen=True)
class PreparedSubmission:
    """A submission on disk; its name says all that is known of it. `kind` is a kind's name."""

    path: Path
    round: RoundNumber
    kind: str
    epoch: EpochNumber
    acknowledged: bool

    def read(self) -> bytes:
        return self.path.read_bytes()


class Outbox:
    """One submission of each kind for each round."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for torn in folder.glob(f"*{TEMPORARY_SUFFIX}"):
            torn.unlink()

    @persisting
    def put(
        self, kind: SubmissionKind, number: RoundNumber, epoch: EpochNumber, body: bytes
    ) -> PreparedSubmission:
        """Durable before it returns."""
        path = self._folder / f"round-{number}-{kind.name}-epoch-{epoch}.prepared"
        write_durably(path, body)
        return PreparedSubmission(path, number, kind.name, epoch, acknowledged=False)

    def find(self, kind: SubmissionKind, number: RoundNumber) -> PreparedSubmission | None:
        wanted = (kind.name, number)
        return next((one for one in self._all() if (one.kind, one.round) == wanted), None)

    @persisting
    def acknowledge(self, prepared: PreparedSubmission) -> PreparedSubmission:
        """The aggregator has it: from here on the round's outcome must account for an update."""
        path = prepared.path.with_suffix(".acknowledged")
        publish(prepared.path, path)
        return replace(prepared, path=path, acknowledged=True)

    @persisting
    def discard(self, prepared: PreparedSubmission) -> None:
        """Nothing of it was charged or sent."""
        prepared.path.unlink()

    @persisting
    def clear(self, settled: RoundNumber) -> None:
        """Removes the updates of settled rounds, and what else belongs to rounds before the last
        of them: of that one a later phase may still ask for something."""
        for one in self._all():
            if one.round < settled or (one.round == settled and one.kind == UPDATE.name):
                one.path.unlink()

    def _all(self) -> list[PreparedSubmission]:
        found = []
        for path in self._folder.iterdir():
            name = _NAME.fullmatch(path.name)
            if name is not None:
                kind, acknowledged = name[2] or UPDATE.name, name[4] == "acknowledged"
                number, epoch = RoundNumber(int(name[1])), EpochNumber(int(name[3]))
                found.append(PreparedSubmission(path, number, kind, epoch, acknowledged))
        return found
