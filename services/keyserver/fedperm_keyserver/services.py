"""Everything that routes may call."""

from dataclasses import dataclass

from fedperm.clock import Clock
from fedperm.web.credentials import OperatorCredential
from fedperm.web.rate_limit import RateLimit
from fedperm_keyserver.access import Access
from fedperm_keyserver.authority import Authority
from fedperm_keyserver.clients import Clients
from fedperm_keyserver.keys import Keys
from fedperm_keyserver.stores.audit import AuditStore
from fedperm_keyserver.tokens import Tokens


@dataclass(frozen=True)
class Services:
    authority: Authority
    operator: OperatorCredential
    enrolment_limit: RateLimit
    access_limit: RateLimit
    grant_limit: RateLimit
    call_limit: RateLimit
    release_limit: RateLimit
    clock: Clock
    keys: Keys
    tokens: Tokens
    clients: Clients
    access: Access
    audit: AuditStore
