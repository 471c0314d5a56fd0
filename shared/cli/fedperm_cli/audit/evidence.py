"""What an audit is held against beyond the log itself, as one group of options."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from fedperm.audit_witness import Witness, check_witness
from fedperm.errors import ParameterError
from fedperm_cli.audit.log import VerifiedLog
from fedperm_cli.errors import OptionsError


def _checked_hash(text: str) -> str:
    """What is mistyped would look like a log that was tampered with."""
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise OptionsError(
            f"--kept {text!r} is no hash", "give the 64 hexadecimal digits that an audit ended with"
        )
    return text


@dataclass(frozen=True)
class Evidence:
    kept: Annotated[
        str | None,
        typer.Option(
            metavar="HASH",
            parser=_checked_hash,
            help="The end of an earlier audit: it must still be there.",
        ),
    ] = None
    witness: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE",
            help="A client's audit-witness.json: what it was told must be there. Repeatable.",
            show_default=False,
        ),
    ] = field(default_factory=list)
    known: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            min=0,
            help="Tampering that the log tells of up to this entry is known, and no error.",
        ),
    ] = 0

    def check(self, log: VerifiedLog) -> None:
        if self.kept is not None:
            log.check_holds(self.kept)
        for path in self.witness:
            check_witness(_read(path), log.entries, log.register, str(path))
        log.check_findings(self.known)


def _read(path: Path) -> Witness:
    try:
        return Witness.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ParameterError(f"cannot read {path}: {error.strerror}", "check its path") from None
    except ValidationError:
        raise ParameterError(
            f"{path} is no witness of an audit log",
            "give the file audit-witness.json of a client's state directory",
        ) from None
