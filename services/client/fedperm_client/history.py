"""What happened in each round, one JSON object a line: for people and for the summary.

Nothing depends on it. After a crash the last line may be torn or missing, and is left out.
"""

from pathlib import Path

from pydantic import ValidationError

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

    def add(self, record: RoundRecord) -> None:
        with self._path.open("a") as file:
            file.write(record.model_dump_json() + "\n")

    def read(self) -> tuple[RoundRecord, ...]:
        if not self._path.exists():
            return ()
        lines = self._path.read_text().splitlines()
        return tuple(record for line in lines if (record := _parse(line)) is not None)


def _parse(line: str) -> RoundRecord | None:
    try:
        return RoundRecord.model_validate_json(line)
    except ValidationError:
        return None
