"""Whose run a client takes part in: what its owner was told apart from the aggregator.

Without a pin a document is trusted on first sight; a client that has taken part in the run compares
the hash that its checkpoint keeps.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fedperm.run_document import FrozenDocument
from fedperm_client.errors import CeilingError


@dataclass(frozen=True)
class Pins:
    """The hash of the run's document, and the fingerprint of its operator's signing key."""

    document: str | None = None
    operator: str | None = None

    def check(self, frozen: FrozenDocument) -> None:
        """Of a document whose signature was verified, or one error with all that is wrong."""
        wrong = list(self._wrong(frozen))
        if wrong:
            raise CeilingError(
                f"this client does not take part in the run: {'; '.join(wrong)}",
                "ask the run's operator, by another way than the aggregator, for what to pin",
            )

    def _wrong(self, frozen: FrozenDocument) -> Iterator[str]:
        operator = frozen.content.operator
        if self.document is not None and frozen.sha256 != self.document:
            yield f"its document is {frozen.sha256}, {self.document} is pinned"
        if self.operator is None:
            return
        if operator is None:
            yield f"its document is of {frozen.content.protocol}, which no operator signs"
        elif operator.fingerprint != self.operator:
            yield f"its operator is {operator.fingerprint}, {self.operator} is pinned"
