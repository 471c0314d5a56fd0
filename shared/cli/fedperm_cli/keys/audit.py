"""The key server's audit log, read to its end and verified on the way."""

import json
from dataclasses import asdict, dataclass

from fedperm.audit_chain import START, ChainEnd, verify_chain
from fedperm.errors import UntrustedError
from fedperm.wire.key_server import AuditEntry
from fedperm_cli.servers.sessions import KeyOperator


@dataclass(frozen=True)
class VerifiedLog:
    """All entries, each of which follows from the one before, and the end of the chain."""

    entries: tuple[AuditEntry, ...]
    end: ChainEnd

    def check_holds(self, kept: str) -> None:
        """A chain alone does not show that its end was cut off; an end that was kept does."""
        if kept not in {START.hash, *(entry.hash for entry in self.entries)}:
            raise UntrustedError(
                f"the audit log does not hold the entry with hash {kept}",
                "entries were removed, or it is another log: compare it with an earlier copy",
            )

    def to_json(self) -> str:
        entries = [entry.model_dump(mode="json") for entry in self.entries]
        return json.dumps({"entries": entries, "end": asdict(self.end)})


async def read_log(operator: KeyOperator) -> VerifiedLog:
    """Page by page: each must continue the chain of those before."""
    entries: list[AuditEntry] = []
    end = START
    while page := (await operator.api.audit(operator.token, after=end.number)).entries:
        end = verify_chain(page, end)
        entries += page
    return VerifiedLog(tuple(entries), end)
