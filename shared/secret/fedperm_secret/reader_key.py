"""Models sealed to all who hold a key epoch: AES-SIV (RFC 5297) under a key for each place.

Deterministic on purpose: clients with the same model make the same octets, so that their signatures
are of one digest. The key depends on the model's lineage, and the lineage decides the model: no key
ever seals two models, and equal octets tell nobody more than equal lineages, which are public.
"""

from dataclasses import dataclass
from typing import NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand

from fedperm.errors import UntrustedError
from fedperm.ids import EpochNumber, RunName
from fedperm.lineage import Lineage

_READER_OCTETS, _SIV_OCTETS = 32, 64


@dataclass(frozen=True)
class SealedPlace:
    """Which model it is; `document` is the hash of the run's, `epoch` the one that readers hold."""

    run: RunName
    document: str
    lineage: Lineage
    epoch: EpochNumber

    @property
    def info(self) -> bytes:
        lineage = self.lineage
        parts = (self.run, self.document, str(lineage.round), lineage.sha256, str(self.epoch))
        return "\x00".join(("fedperm/3 sealed checkpoint", *parts)).encode()


class ReaderKey:
    """Of one epoch: its clients have it, and the aggregator has not. Shows nothing when printed,
    cannot be pickled or copied."""

    __slots__ = ("_octets",)

    def __init__(self, secret: bytes) -> None:
        """`secret` is what all holders of the epoch know, and nobody else."""
        info = b"fedperm/3 reader key"
        self._octets = HKDF(SHA256(), _READER_OCTETS, salt=None, info=info).derive(secret)

    def seal(self, model: bytes, place: SealedPlace) -> bytes:
        return self._cipher(place).encrypt(model, None)

    def open(self, sealed: bytes, place: SealedPlace) -> bytes:
        try:
            return self._cipher(place).decrypt(sealed, None)
        except (InvalidTag, ValueError):
            raise UntrustedError(
                f"the checkpoint of round {place.lineage.round} does not open under key epoch "
                f"{place.epoch}",
                "do not start from it: it is not what its signers sealed, or of another lineage",
            ) from None

    def _cipher(self, place: SealedPlace) -> AESSIV:
        return AESSIV(HKDFExpand(SHA256(), _SIV_OCTETS, place.info).derive(self._octets))

    def __repr__(self) -> str:
        return "<ReaderKey>"

    def __getstate__(self) -> NoReturn:
        raise TypeError("a reader key cannot be pickled or copied")

    __reduce__ = __getstate__
