"""The database: one transaction per method, and what is to be audited is audited in it."""

from dataclasses import dataclass

from fedperm.database import Database
from fedperm_keyserver.stores.audit import AuditStore
from fedperm_keyserver.stores.clients import AccessStore, ClientStore, TokenStore
from fedperm_keyserver.stores.keys import IdentityStore, KeyStore
from fedperm_keyserver.stores.secrets import SecretStore


@dataclass(frozen=True)
class Stores:
    identity: IdentityStore
    secrets: SecretStore
    keys: KeyStore
    tokens: TokenStore
    clients: ClientStore
    access: AccessStore
    audit: AuditStore


def open_stores(database: Database) -> Stores:
    return Stores(
        IdentityStore(database),
        SecretStore(database),
        KeyStore(database),
        TokenStore(database),
        ClientStore(database),
        AccessStore(database),
        AuditStore(database),
    )
