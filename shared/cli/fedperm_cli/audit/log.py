"""The key server's audit log, read to its end and verified on the way."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import ValidationError

from fedperm.audit_chain import START, ChainEnd, verify_chain
from fedperm.audit_register import Register, register_of
from fedperm.errors import ParameterError, UntrustedError
from fedperm.wire.key_server import AuditEntry
from fedperm.wire.message import Many, Message
from fedperm_cli.servers.sessions import KeyOperator


class _End(Message):
    number: int
    hash: str


class _Copy(Message):
    """A log as it was printed."""

    entries: Many[AuditEntry]
    end: _End


@dataclass(frozen=True)
class VerifiedLog:
    """All entries, each of which follows from those before; the end of the chain, and what is so at
    its end."""

    entries: tuple[AuditEntry, ...]
    end: ChainEnd
    register: Register

    @classmethod
    def of(cls, entries: Iterable[AuditEntry]) -> "VerifiedLog":
        all_entries = tuple(entries)
        return cls(all_entries, verify_chain(all_entries), register_of(all_entries))

    def check_holds(self, kept: str) -> None:
        """A chain alone does not show that its end was cut off; an end that was kept does."""
        if kept not in {START.hash, *(entry.hash for entry in self.entries)}:
            raise UntrustedError(
                f"the audit log does not hold the entry with hash {kept}",
                "entries were removed, or it is another log: compare it with an earlier copy",
            )

    def check_findings(self, known: int) -> None:
        """What the key server itself found, but for what the operator knows of."""
        new = [finding for finding in self.register.findings if finding.number > known]
        if new:
            rows = ", ".join(f"{one.table} {one.row} (entry {one.number})" for one in new)
            raise UntrustedError(
                f"the key server's database was changed by somebody else: {rows}",
                "find out who writes there; what is known: --known NUMBER, of the last such entry",
            )

    def to_json(self) -> str:
        entries = [entry.model_dump(mode="json") for entry in self.entries]
        return json.dumps({"entries": entries, "end": asdict(self.end)})


def read_copy(path: Path) -> VerifiedLog:
    """As `to_json` writes it. Its own end is not believed, but entries that it tells of and lacks
    are missed."""
    try:
        copy = _Copy.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ParameterError(f"cannot read {path}: {error.strerror}", "check its path") from None
    except ValidationError:
        raise ParameterError(
            f"{path} is no copy of an audit log", "make one: fedperm keys audit --json > FILE"
        ) from None
    log = VerifiedLog.of(copy.entries)
    if log.end != ChainEnd(copy.end.number, copy.end.hash):
        raise UntrustedError(
            f"{path} ends with entry {log.end.number}, and says that its end is another: number "
            f"{copy.end.number}, hash {copy.end.hash}",
            "entries were removed or added: compare it with another copy",
        )
    return log


async def read_log(operator: KeyOperator) -> VerifiedLog:
    """Page by page: each must continue the chain of those before."""
    entries: list[AuditEntry] = []
    end = START
    while page := (await operator.api.audit(operator.token, after=end.number)).entries:
        end = verify_chain(page, end)
        entries += page
    return VerifiedLog(tuple(entries), end, register_of(entries))
