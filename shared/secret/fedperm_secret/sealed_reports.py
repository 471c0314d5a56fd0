"""What clients measure on the decrypted model, on its way to the run operator alone.

The aggregator chooses what clients decrypt, so whatever they then say of it is an oracle to it: it
stores and hands on what is sealed, and not even the length depends on what is inside.
"""

from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from fedperm.errors import UntrustedError
from fedperm.ids import ClientName, RoundNumber, RunName
from fedperm.wire.aggregator import MEASURED_OCTETS, Measured
from fedperm.wire.public_keys import KeyText, from_text, sealing_key, to_text
from fedperm_secret.sealed import open_with, seal_to

_PURPOSE = "fedperm/3 report"


@dataclass(frozen=True)
class ReportPlace:
    """Where a report belongs; `document` is the hash of the run's."""

    run: RunName
    document: str
    round: RoundNumber
    client: ClientName

    @property
    def _parts(self) -> tuple[str | int, ...]:
        return (self.run, self.document, self.round, self.client)

    def seal(self, measured: Measured, operator: KeyText) -> str:
        """JSON, filled up with spaces to one length: it holds a few numbers of bounded length."""
        octets = measured.model_dump_json().encode()
        if len(octets) > MEASURED_OCTETS:
            raise ValueError(f"a report of {len(octets)} octets")
        padded = octets.ljust(MEASURED_OCTETS)
        return to_text(seal_to(sealing_key(operator), padded, purpose=_PURPOSE, place=self._parts))

    def open(self, sealed: str, operator: X25519PrivateKey) -> Measured:
        """An UntrustedError for what this client did not seal to this operator, in this place; but
        whoever knows the operator's public key can have sealed it in the client's name."""
        try:
            octets = open_with(operator, from_text(sealed), purpose=_PURPOSE, place=self._parts)
            return Measured.model_validate_json(octets)
        except ValueError:
            raise UntrustedError(
                f"the report of {self.client} on round {self.round} does not open",
                "it was changed on its way, or is not meant for this operator's keys",
            ) from None
