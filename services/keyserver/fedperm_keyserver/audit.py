"""The audit log, as the key operator reads it."""

from dataclasses import dataclass

from fedperm.wire.key_server import AuditLog
from fedperm_keyserver.stores.audit import AuditStore

PAGE = 1000


@dataclass(frozen=True)
class Audit:
    store: AuditStore

    def after(self, number: int) -> AuditLog:
        return AuditLog(entries=self.store.entries(number, PAGE))
