"""`python -m fedperm_keyserver.root_keys`: what all else hangs on, changed beside a stopped server:
the key-encryption key, and the signing identity.

Not over the network: whoever may do this has the key-encryption key, and no request should be able
to do as much. Each is one transaction, and can be done again after a crash.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from fedperm.clock import Clock, SystemClock
from fedperm.database import Database, open_database
from fedperm.errors import SettingsError
from fedperm.randomness import from_operating_system
from fedperm.services import KEY_SERVER
from fedperm.state_folder import sole_user
from fedperm.web.server_settings import run_server
from fedperm_keyserver.authority import Authority, establish
from fedperm_keyserver.integrity import new_marks
from fedperm_keyserver.migrations import SCHEMA
from fedperm_keyserver.records import StoredIdentity
from fedperm_keyserver.settings import RootKeySettings
from fedperm_keyserver.stores.keys import IdentityStore
from fedperm_keyserver.stores.secrets import SecretStore
from fedperm_keyserver.vault import new_successor, rewrapping
from fedperm_secret.at_rest import KeyEncryptionKey


@dataclass(frozen=True)
class RootKeys:
    database: Database
    clock: Clock
    randomness: Random

    def rewrap(self, old: KeyEncryptionKey, new: KeyEncryptionKey) -> int:
        """All secrets from one key-encryption key to another; how many were not there yet.

        Leftovers are erased whether there were any or not: an earlier attempt may have died in
        between.
        """
        secrets = SecretStore(self.database)
        authority = self._open(new if set(secrets.wrappers()) == {new.identifier} else old)
        rewrap = rewrapping(old, new, self.randomness)
        marks = new_marks(new, self.randomness)
        changed = secrets.rewrap(
            rewrap,
            lambda session: authority.vault.guard.renew(session, marks),
            new.identifier,
            self.clock.now(),
        )
        secrets.erase_leftovers()
        return changed

    def succeed(self, kek: KeyEncryptionKey) -> StoredIdentity:
        """A new identity, which the one before names its successor."""
        authority, now = self._open(kek), self.clock.now()
        successor = new_successor(authority.vault, authority.stored[-1], now)
        IdentityStore(self.database).succeed(successor, now)
        return successor

    def retire(self, kek: KeyEncryptionKey, generation: int) -> StoredIdentity:
        """The private key of an older identity is destroyed."""
        self._open(kek)
        retired = IdentityStore(self.database).retire(generation, self.clock.now())
        SecretStore(self.database).erase_leftovers()
        return retired

    def _open(self, kek: KeyEncryptionKey) -> Authority:
        """Rows are marked from here on, and believed only if they are."""
        identities = IdentityStore(self.database)
        authority = establish(identities, kek, self.clock, self.randomness)
        authority.check_open()
        return authority


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code. The settings are the server's own, from the environment."""
    chosen = _parser().parse_args(arguments)
    return run_server(RootKeySettings, lambda settings: _run(chosen, settings))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        f"python -m {KEY_SERVER.module}.root_keys",
        description="Changes the key-encryption key and the signing identity, while the key server "
        "is stopped. Takes its environment variables.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("show", help="the identities, and which key wraps how many secrets")
    commands.add_parser(
        "rewrap",
        help="bring all secrets under the key-encryption key in "
        f"{KEY_SERVER.env_prefix}NEW_KEY_ENCRYPTION_KEY_FILE (or of _COMMAND)",
    )
    commands.add_parser(
        "succeed", help="make a new signing identity; the one before signs for those who know it"
    )
    retire = commands.add_parser(
        "retire", help="destroy an older identity's private key: its runs get no tokens any more"
    )
    retire.add_argument("generation", type=int, help="as shown")
    return parser


def _run(chosen: argparse.Namespace, settings: RootKeySettings) -> None:
    with sole_user(settings.state_directory, KEY_SERVER.title):
        database = open_database(settings.url, SCHEMA)
        try:
            root_keys = RootKeys(database, SystemClock(), from_operating_system())
            _COMMANDS[chosen.command](chosen, settings, root_keys)
            _show(database)
        finally:
            database.close()


def _rewrap(_chosen: argparse.Namespace, settings: RootKeySettings, root_keys: RootKeys) -> None:
    new = settings.read_new_key_encryption_key()
    if new is None:
        raise SettingsError(
            "there is no new key-encryption key",
            f"set {KEY_SERVER.env_prefix}NEW_KEY_ENCRYPTION_KEY_FILE, beside the old one",
        )
    changed = root_keys.rewrap(_the_key(settings), new)
    sys.stdout.write(f"brought under the new key-encryption key: {changed}\n")


def _succeed(_chosen: argparse.Namespace, settings: RootKeySettings, root_keys: RootKeys) -> None:
    root_keys.succeed(_the_key(settings))


def _retire(chosen: argparse.Namespace, settings: RootKeySettings, root_keys: RootKeys) -> None:
    root_keys.retire(_the_key(settings), chosen.generation)


def _nothing(_chosen: argparse.Namespace, _settings: RootKeySettings, _root: RootKeys) -> None:
    pass


_COMMANDS: dict[str, Callable[[argparse.Namespace, RootKeySettings, RootKeys], None]] = {
    "show": _nothing,
    "rewrap": _rewrap,
    "succeed": _succeed,
    "retire": _retire,
}


def _the_key(settings: RootKeySettings) -> KeyEncryptionKey:
    kek = settings.read_key_encryption_key()
    if kek is None:
        raise SettingsError(
            "there is no key-encryption key",
            f"set {KEY_SERVER.env_prefix}KEY_ENCRYPTION_KEY_FILE, as for the server",
        )
    return kek


def _show(database: Database) -> None:
    for one in IdentityStore(database).all():
        retired = "" if one.wrapped else "  retired"
        sys.stdout.write(f"identity {one.generation}  {one.fingerprint}{retired}\n")
    for identifier, count in sorted(SecretStore(database).wrappers().items()):
        wrapper = identifier or "a key-encryption key that an older version did not name"
        sys.stdout.write(f"{count} secrets wrapped by {wrapper}\n")


if __name__ == "__main__":
    sys.exit(main())
