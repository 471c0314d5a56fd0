"""What a model was made of: a hash over the run's document and every aggregate that was applied.

It is a function of published octets alone, and the model is a function of what it hashes. So two
clients with the same lineage have the same model, and nothing in it tells more of a model than its
reader has seen already.
"""

import hashlib
from dataclasses import dataclass

from fedperm.ids import NO_ROUND, EpochNumber, RoundNumber

_LABEL = "fedperm lineage"


@dataclass(frozen=True)
class Lineage:
    """`round` is the last published one that was applied, 0 before the first; aborted rounds leave
    model and lineage as they are. `sha256` is in hexadecimal."""

    round: RoundNumber
    sha256: str

    @classmethod
    def of_document(cls, document_sha256: str) -> "Lineage":
        """Of the initial model, which the document names."""
        return cls(NO_ROUND, _hash(document_sha256))

    def after(self, number: RoundNumber, epoch: EpochNumber, aggregate_sha256: str) -> "Lineage":
        """Once the aggregate of this round, under the key of this epoch, was applied."""
        return Lineage(number, _hash(self.sha256, str(number), str(epoch), aggregate_sha256))


def _hash(*parts: str) -> str:
    return hashlib.sha256("\x00".join((_LABEL, *parts)).encode()).hexdigest()
