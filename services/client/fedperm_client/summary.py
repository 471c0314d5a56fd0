"""What a client leaves for others to read: a line for each round, and a summary when it is done.

Nothing that the client does depends on either.
"""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fedperm.crash_points import persisting
from fedperm.durable_file import write_durably
from fedperm.ids import EpochNumber, RoundNumber
from fedperm.wire.aggregator import ClientReport, ClientSeconds, RoundState, TestMetrics
from fedperm.wire.message import ClientField, Lax, Many, Message, RunField, Sha256, Word
from fedperm_client.ending import Ending


class RoundRecord(Message):
    """`included`: this client's update is in the sum. The hash is that of the parameters after
    the round."""

    round: RoundNumber
    state: Lax[RoundState]
    epoch: EpochNumber
    contributors: int
    included: bool
    report: ClientReport
    parameters_sha256: Sha256


class History:
    """Records as JSON, one a line."""

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
        by_round: dict[RoundNumber, RoundRecord] = {}
        for line in self._path.read_text().splitlines():
            try:
                record = RoundRecord.model_validate_json(line)
            except ValidationError:
                continue  # torn by a crash
            by_round.setdefault(record.round, record)
        return tuple(by_round.values())


class Summary(Message):
    """`seconds` and octets are sums over `history`, which has a line for each round that this
    client measured. `privacy` is the report of the whole run, null without noise; the ledger's
    `epsilon_spent` counts what this client sent, in all runs with this state directory. `reports`
    says whether the aggregator could read what this client measured: `sealed` or `clear`."""

    run: RunField
    document: Sha256
    client: ClientField
    state: Lax[Ending]
    rounds: int
    rounds_included: int
    test: TestMetrics | None
    reports: Word = "sealed"
    seconds: ClientSeconds
    bytes_up: int
    bytes_down: int
    privacy: dict[str, Any] | None
    epsilon_spent: float | None
    parameters: int
    parameters_sha256: Sha256
    model: str
    history: Many[RoundRecord]

    @persisting
    def write(self, path: Path) -> None:
        write_durably(path, self.model_dump_json(indent=2).encode())


def total_seconds(history: tuple[RoundRecord, ...]) -> ClientSeconds:
    seconds = [record.report.seconds.model_dump() for record in history]
    return ClientSeconds(
        **{part: sum(one[part] for one in seconds) for part in ClientSeconds.model_fields}
    )
