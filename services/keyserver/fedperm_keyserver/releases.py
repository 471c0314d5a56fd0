"""Secret keys leave here: sealed to one enrolled client, signed, and recorded before."""

import hashlib
import logging
from dataclasses import dataclass

from fedperm.clock import Clock
from fedperm.errors import ForbiddenError
from fedperm.wire.key_server import ReleasedKey
from fedperm.wire.statements import AccessToken
from fedperm_keyserver.authority import Authority
from fedperm_keyserver.metrics import KeyServerMetrics
from fedperm_keyserver.stores.access import AccessStore
from fedperm_keyserver.stores.clients import ClientStore
from fedperm_keyserver.stores.keys import KeyStore

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Releases:
    store: AccessStore
    clients: ClientStore
    keys: KeyStore
    authority: Authority
    clock: Clock
    metrics: KeyServerMetrics

    def release(self, key: str, number: int, bearer: AccessToken) -> ReleasedKey:
        """Made first and recorded by its hash; it leaves once the record is committed. The log
        repeats the record: wherever logs are kept, they bear witness to the audit log."""
        if bearer.key != key:
            raise ForbiddenError(
                f"this access token is for key {bearer.key}", "ask with a client of this key"
            )
        client = self.clients.get(key, bearer.sub)
        epoch, keys = self.keys.epoch(key, number), self.keys.get(key).keys
        now = self.clock.now()
        release = self.authority.make_release(epoch, keys, client, now)
        digest = hashlib.sha256(release.encode()).hexdigest()
        entry = self.store.record_release(client, epoch, digest, now)
        self.metrics.releases.inc()
        log.info("key released", extra={**entry.details, "audit": entry.number, "hash": entry.hash})
        return ReleasedKey(release=release)
