"""Everything that a federation needs before it starts, into one folder for each who needs it."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from fedperm.clock import Clock
from fedperm.randomness import from_operating_system
from fedperm.services import CLIENT, SERVICES
from fedperm_cli.deployment.authority import (
    Authority,
    authority_from_pem,
    certificate_to_pem,
    key_from_pem,
    key_to_pem,
    new_authority,
    new_key,
)
from fedperm_cli.deployment.databases import (
    POSTGRES,
    DatabaseKind,
    check_database_url,
    new_database_url,
    roles_and_databases,
    with_tls,
)
from fedperm_cli.deployment.secret_files import PUBLIC, PreparedFile, SecretFiles, State
from fedperm_cli.deployment.server_names import ServerNames, names_of
from fedperm_cli.errors import DeploymentError
from fedperm_cli.operator.identity import OperatorIdentity

OPERATOR, MONITORING = "operator", "monitoring"
_CA, _CA_KEY = "authority/ca.pem", "authority/ca-key.pem"
_OPERATOR_KEYS = f"{OPERATOR}/run-operator-key.json", "authority/run-operator-key.json"


@dataclass(frozen=True)
class Wishes:
    """What may differ between deployments; `names` of each server."""

    names: Mapping[str, ServerNames]
    database: DatabaseKind


def prepare(folder: Path, wishes: Wishes, clock: Clock) -> list[PreparedFile]:
    """Again: secrets stay, certificates are renewed where they must be."""
    now = datetime.fromtimestamp(clock.now(), UTC).replace(microsecond=0)
    files = SecretFiles(folder)
    _check_databases(files, wishes)
    authority = _authority(files, now)
    for copy in _ca_copies():
        files.copy(certificate_to_pem(authority.certificate), copy, PUBLIC)
    for server, names in wishes.names.items():
        _server_certificate(files, authority, server, names, now)
    if wishes.database is DatabaseKind.POSTGRES:
        _server_certificate(files, authority, POSTGRES, names_of(POSTGRES, ()), now)
    _credentials(files)
    _operator_identity(files)
    _databases(files, wishes)
    return files.prepared


def _ca_copies() -> list[str]:
    services = [service.name for service in SERVICES.values()]
    return [f"{party}/ca.pem" for party in (*services, OPERATOR, CLIENT.name, MONITORING)]


def _authority(files: SecretFiles, now: datetime) -> Authority:
    certificate, key = files.read(_CA), files.read(_CA_KEY)
    if certificate is None and key is None:
        return _new_authority(files, now)
    try:
        authority = authority_from_pem(certificate or b"", key or b"")
    except ValueError:
        raise DeploymentError(
            f"the private CA is damaged or half made: {_CA}, {_CA_KEY}",
            "restore both from a backup, or start anew: docker compose down -v",
        ) from None
    if authority.certificate.not_valid_after_utc <= now:
        raise DeploymentError(
            f"the private CA has ended on {authority.certificate.not_valid_after_utc:%Y-%m-%d}",
            "start anew with an empty folder, and give clients the new ca.pem",
        )
    files.keep(_CA, _CA_KEY)
    return authority


def _new_authority(files: SecretFiles, now: datetime) -> Authority:
    """The key first: a certificate without its key is noticed, and so is the reverse."""
    orphans = [copy for copy in _ca_copies() if files.read(copy) is not None]
    if orphans:
        raise DeploymentError(
            f"the private CA is gone, but others trust it: {', '.join(orphans)}",
            f"restore {_CA} and {_CA_KEY}, or start anew: docker compose down -v",
        )
    authority = new_authority(now)
    files.write(_CA_KEY, key_to_pem(authority.key), State.MADE)
    files.write(_CA, certificate_to_pem(authority.certificate), State.MADE, PUBLIC)
    return authority


def _server_certificate(
    files: SecretFiles, authority: Authority, server: str, names: ServerNames, now: datetime
) -> None:
    """Renewed with the same key: a crash between two files cannot part the pair."""
    file = f"{server}/tls-certificate.pem"
    pem = files.secret(lambda: key_to_pem(new_key()), f"{server}/tls-key.pem")
    try:
        key = key_from_pem(pem).public_key()
    except ValueError:
        raise DeploymentError(
            f"{server}/tls-key.pem is damaged", "restore it, or remove it to get a new one"
        ) from None
    found = files.read(file)
    held = _parsed(found)
    if held is not None and authority.still_vouches(held, key, names, now):
        files.keep(file)
        return
    issued = certificate_to_pem(authority.issue(server, key, names, now))
    files.write(file, issued, State.MADE if found is None else State.RENEWED)


def _parsed(pem: bytes | None) -> x509.Certificate | None:
    """None also for a damaged one, which is no secret: it is simply renewed."""
    try:
        return None if pem is None else x509.load_pem_x509_certificate(pem)
    except ValueError:
        return None


def _credentials(files: SecretFiles) -> None:
    for service in SERVICES.values():
        operators_copy = f"{OPERATOR}/{service.operator_token}"
        files.secret(_new_token, f"{service.name}/operator-token", operators_copy)
        for secret in service.secrets:
            files.secret(lambda: secrets.token_hex(32).encode(), f"{service.name}/{secret}")
    files.secret(_new_token, f"{MONITORING}/grafana-password")


def _operator_identity(files: SecretFiles) -> None:
    """The run operator's keys for the operator alone, and once more beside the CA: with new ones
    clients would take the operator for another. For clients, whom to believe."""
    octets = files.secret(
        lambda: OperatorIdentity.drawn(from_operating_system()).to_json(), *_OPERATOR_KEYS
    )
    try:
        pinned = OperatorIdentity.from_json(octets).keys.fingerprint
    except ValueError:
        raise DeploymentError(
            f"{' and '.join(_OPERATOR_KEYS)} are damaged",
            "restore them from a backup, or start anew: docker compose down -v",
        ) from None
    files.copy(pinned.encode(), f"{CLIENT.name}/operator-fingerprint", PUBLIC)


def _new_token() -> bytes:
    return secrets.token_urlsafe(32).encode()


def _check_databases(files: SecretFiles, wishes: Wishes) -> None:
    """Before anything is written."""
    for server in wishes.names:
        file = f"{server}/database-url"
        found = files.read(file)
        if found is not None:
            check_database_url(found.decode(errors="replace"), wishes.database, file)


def _databases(files: SecretFiles, wishes: Wishes) -> None:
    urls = {server: _database_url(files, server, wishes.database) for server in wishes.names}
    if wishes.database is DatabaseKind.POSTGRES:
        files.secret(_new_token, f"{POSTGRES}/password")
        files.copy(roles_and_databases(urls).encode(), f"{POSTGRES}/databases.sql")


def _database_url(files: SecretFiles, server: str, kind: DatabaseKind) -> str:
    file = f"{server}/database-url"
    found = files.read(file)
    if found is not None and with_tls(found.decode()) != found.decode():
        files.write(file, with_tls(found.decode()).encode(), State.RENEWED)
        return with_tls(found.decode())
    return files.secret(lambda: new_database_url(kind, server).encode(), file).decode()
