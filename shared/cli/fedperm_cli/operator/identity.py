"""The run operator's own keys: the private halves, in one file on the operator's machine.

The signing key makes a run the operator's, the sealing key opens what clients report. The
aggregator has neither: nothing that it could be made to send or to store shows them.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fedperm.durable_file import create_durably
from fedperm.errors import ParameterError, SettingsError
from fedperm.run_document import FrozenDocument, OperatorKeys
from fedperm.state_folder import OTHERS
from fedperm_secret.key_pairs import KeyPairs


@dataclass(frozen=True, repr=False)
class OperatorIdentity(KeyPairs):
    """The public halves stand in every document that this operator makes."""

    @classmethod
    def kept_at(cls, path: Path, randomness: Random) -> "OperatorIdentity":
        """The keys in the file; new ones, on disk before they are returned, if there is none."""
        if not path.exists():
            _create(path, cls.drawn(randomness).to_json())
        return cls.found_at(path)

    @classmethod
    def found_at(cls, path: Path) -> "OperatorIdentity":
        """The keys in a file that must be there, and be closed to others."""
        try:
            with path.open("rb") as file:
                mode, octets = os.fstat(file.fileno()).st_mode, file.read()
        except OSError as error:
            raise SettingsError(
                f"the run operator's key file {path} cannot be read: {error.strerror}",
                "check --run-operator-key-file",
            ) from None
        if mode & OTHERS:
            raise SettingsError(
                f"the run operator's key file {path} is open to others (mode {mode & 0o777:o})",
                f"if nobody else has read it: chmod 600 {path}",
            )
        try:
            return cls.from_json(octets)
        except ValueError:
            raise SettingsError(
                f"the run operator's key file {path} is damaged",
                "restore it from a backup; with new keys clients take this operator for another",
            ) from None

    @property
    def keys(self) -> OperatorKeys:
        return OperatorKeys(signing_key=self.signing_text, sealing_key=self.sealing_text)

    def sign(self, document: FrozenDocument) -> FrozenDocument:
        """A document of an older version stays unsigned: it names nobody."""
        operator = document.content.operator
        if operator is None:
            return document
        if operator != self.keys:
            raise ParameterError(
                f"the document of run {document.content.run} names another operator, with the "
                f"fingerprint {operator.fingerprint}; the key file has {self.keys.fingerprint}",
                "give the file of the operator who made it with --run-operator-key-file",
            )
        return document.signed_with(self.signing)


def _create(path: Path, octets: bytes) -> None:
    """Never in another file's place: a name that somebody takes meanwhile, be it a link, stays as
    it is, and is read instead."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            create_durably(path, octets)
    except OSError as error:
        raise SettingsError(
            f"the run operator's key file {path} cannot be made: {error.strerror}",
            "choose another place with --run-operator-key-file",
        ) from None
