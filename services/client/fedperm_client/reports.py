"""What a client says after a round, and to whom.

Times in tenths, octets and the ledger are the aggregator's to read. What is computed from the
decrypted model is sealed to the run's operator: the aggregator chooses what is decrypted, and would
read secret permutations from how good the result is (docs/threat-model.md).
"""

from dataclasses import dataclass
from enum import StrEnum

from fedperm.ids import ClientName, RoundNumber
from fedperm.run_document import FrozenDocument
from fedperm.wire.aggregator import ClientReport, Measured, in_tenths
from fedperm_client.summary import RoundRecord
from fedperm_secret.sealed_reports import ReportPlace

IN_CLEAR = (
    "row 1 does not hold against the aggregator: this client reports in the clear what it measures "
    "on the decrypted model"
)


class Reporting(StrEnum):
    """The owner's choice."""

    SEALED = "sealed"
    CLEAR = "clear"


@dataclass(frozen=True)
class Reports:
    """Of one client on one run."""

    frozen: FrozenDocument
    client: ClientName
    reporting: Reporting

    def as_sent(self, record: RoundRecord) -> ClientReport:
        """Always in the same form: nothing in the open depends on the model."""
        told, measured = record.report, record.report.measured or Measured(test=None)
        is_clear = self.reporting is Reporting.CLEAR
        return told.model_copy(
            update={
                "seconds": in_tenths(told.seconds),
                "sealed": None if is_clear else self._sealed(measured, record.round),
                "measured": measured if is_clear else None,
            }
        )

    def _sealed(self, measured: Measured, number: RoundNumber) -> str | None:
        """None in a run of an older version, whose document names no operator."""
        operator = self.frozen.content.operator
        if operator is None:
            return None
        place = ReportPlace(self.frozen.content.run, self.frozen.sha256, number, self.client)
        return place.seal(measured, operator.sealing_key)
