"""What happened in each round, one JSON object a line: for people and for the summary.

Nothing depends on it. After a crash the last line may be torn or missing, and is left out.
"""

from pathlib import Path

from pydantic import ValidationError

from fedperm.crash_points import persisting
from fedperm.wire.aggregator import ClientReport, RoundState
from fedperm.wire.message import Lax, Message, Sha256


class RoundRecord(Message):
    """`included`: this client's update is in the sum. The hash is that of the parameters after
    the round."""

    round: int
    state: Lax[RoundState]
    epoch: int
    contributors: int
    included: bool
    report: ClientReport
    parameters_sha256: Sha256


class History:
    def __init__(self, path: Path) -> None:
        self._path = path

    @persisting
    def add(self, record: RoundRecord) -> None:
        with self._path.open("a") as file:
            file.write(record.model_dump_json() + "\n")

    def read(self) -> tuple[RoundRecord, ...]:
        """One a round: the first, should the client have replayed it."""
        if not self._path.exists():
            return ()
        by_round: dict[int, RoundRecord] = {}
        for line in self._path.read_text().splitlines():
            record = _parse(line)
            if record is not None:
                by_round.setdefault(record.round, record)
        return tuple(by_round.values())


def _parse(line: str) -> RoundRecord | None:
    try:
        return RoundRecord.model_validate_json(line)
    except ValidationError:
        return None
