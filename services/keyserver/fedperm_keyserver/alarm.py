"""What the key server does about rows that it has not written: it says so, once for each of them.

Whoever asked is refused and told no more than that. The operator has a line in the log, a metric
and, if the audit log still holds, an entry there: `fedperm keys audit` ends with an error then.
"""

import logging
from dataclasses import dataclass, field

from fedperm.clock import Clock
from fedperm.errors import FedPermError, TamperedError
from fedperm_keyserver.events import TamperingFound
from fedperm_keyserver.metrics import KeyServerMetrics
from fedperm_keyserver.origin import KEY_SERVER, Origin, asked_by
from fedperm_keyserver.stores.audit import AuditStore

log = logging.getLogger(__name__)

MOST_TOLD = 1000
"""Whoever writes into the database must not fill the log as well."""


@dataclass
class Alarm:
    audit: AuditStore
    clock: Clock
    metrics: KeyServerMetrics
    _told: set[tuple[str, str]] = field(default_factory=set, repr=False)

    def sound(self, error: TamperedError) -> None:
        self.metrics.tampering.labels(error.table).inc()
        row = error.table, error.row
        if row in self._told or len(self._told) >= MOST_TOLD:
            return
        self._told.add(row)
        details = {"table": error.table, "row": error.row, "why": error.why}
        log.error("tampered: the database was changed by somebody else", extra=details)
        try:
            with asked_by(Origin(KEY_SERVER)):
                self.audit.record_tampering(TamperingFound(*row, error.why), self.clock.now())
        except FedPermError as failure:
            log.error("tampered: the audit log cannot say so: %s", failure.message)  # noqa: TRY400
