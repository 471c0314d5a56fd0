"""`fedperm deployment prepare`: everything is made once, and nothing secret ever changes."""

import json
import shutil
import ssl
import stat
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509

from fedperm.clock import SystemClock
from fedperm.database import sqlite_url
from fedperm.engines import check_is_private
from fedperm_cli.deployment.databases import DatabaseKind
from fedperm_cli.deployment.preparation import Wishes, prepare
from fedperm_cli.deployment.secret_files import State
from fedperm_cli.deployment.server_names import names_of
from fedperm_cli.errors import DeploymentError
from fedperm_cli.operator.identity import OperatorIdentity
from tests.cli.operator import Operator

PUBLIC = {"authority/ca.pem", "keyserver/ca.pem", "aggregator/ca.pem", "operator/ca.pem",
          "client/ca.pem", "monitoring/ca.pem", "client/operator-fingerprint"}  # fmt: skip
PRIVATE = {"authority/ca-key.pem", "keyserver/tls-certificate.pem", "keyserver/tls-key.pem",
           "keyserver/operator-token", "keyserver/key-encryption-key", "keyserver/database-url",
           "aggregator/tls-certificate.pem", "aggregator/tls-key.pem", "aggregator/operator-token",
           "aggregator/database-url", "operator/key-operator-token",
           "operator/run-operator-token", "operator/run-operator-key.json",
           "authority/run-operator-key.json", "monitoring/grafana-password"}  # fmt: skip
CERTIFICATES = {"keyserver/tls-certificate.pem", "aggregator/tls-certificate.pem"}


class Later:
    """The system's clock, so many days ahead."""

    def __init__(self, days: float) -> None:
        self._ahead = timedelta(days=days).total_seconds()

    def now(self) -> float:
        return SystemClock().now() + self._ahead


def wishes(*more: str) -> Wishes:
    names = {"keyserver": names_of("keyserver", more), "aggregator": names_of("aggregator", ())}
    return Wishes(names, DatabaseKind.SQLITE)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def states(folder: Path, *more: str, days: float = 0) -> dict[str, State]:
    return {done.file: done.state for done in prepare(folder, wishes(*more), Later(days))}


@pytest.fixture
def folder(tmp_path) -> Path:
    prepare(tmp_path / "deployment", wishes(), Later(0))
    return tmp_path / "deployment"


def changed(folder: Path, before: dict[str, bytes]) -> set[str]:
    after = contents(folder)
    assert after.keys() == before.keys()
    return {file for file in after if after[file] != before[file]}


def test_everybody_gets_what_they_need_and_nobody_else_may_read_it(tmp_path):
    made = Operator({})("deployment", "prepare", str(tmp_path))
    assert made.returncode == 0, made.stderr
    assert set(made.stdout.splitlines()) == {f"made     {file}" for file in PUBLIC | PRIVATE}
    assert contents(tmp_path).keys() == PUBLIC | PRIVATE
    for file in PUBLIC | PRIVATE:
        mode = stat.S_IMODE((tmp_path / file).stat().st_mode)
        assert mode == (0o644 if file in PUBLIC else 0o600), file


def test_both_ends_of_a_credential_agree_and_no_two_secrets_are_the_same(folder):
    held = contents(folder)
    assert held["keyserver/operator-token"] == held["operator/key-operator-token"]
    assert held["aggregator/operator-token"] == held["operator/run-operator-token"]
    pinned = held.pop("client/operator-fingerprint").decode()
    assert len({held[file] for file in PUBLIC & held.keys()}) == 1
    assert len({held[file] for file in PRIVATE}) == len(PRIVATE) - 3
    assert len(bytes.fromhex(held["keyserver/key-encryption-key"].decode())) == 32
    operator = OperatorIdentity.found_at(folder / "operator/run-operator-key.json")
    assert pinned == operator.keys.fingerprint


def test_the_second_time_nothing_changes(folder):
    before = contents(folder)
    said = json.loads(Operator({})("deployment", "prepare", str(folder), "--json").stdout)
    assert {entry["file"]: entry["state"] for entry in said["files"]} == dict.fromkeys(
        PUBLIC | PRIVATE, "kept"
    )
    assert changed(folder, before) == set()


def test_folders_that_are_there_already_are_used(tmp_path):
    for name in ("authority", "keyserver", "aggregator", "operator", "client"):
        (tmp_path / name).mkdir()
    assert set(states(tmp_path).values()) == {State.MADE}


@pytest.mark.parametrize(("days", "renewed"), [(334, set()), (336, CERTIFICATES)])
def test_certificates_are_renewed_a_month_before_they_end(folder, days, renewed):
    before = contents(folder)
    said = states(folder, days=days)
    assert {file for file, state in said.items() if state is State.RENEWED} == renewed
    assert changed(folder, before) == renewed


def test_a_certificate_that_lacks_a_name_is_renewed(folder):
    before = contents(folder)
    states(folder, "Keys.example.org,192.0.2.7")
    assert changed(folder, before) == {"keyserver/tls-certificate.pem"}
    assert accepts(folder, "keyserver", "keys.example.org", "192.0.2.7", "localhost")
    before = contents(folder)
    states(folder)  # a name too many does no harm
    assert changed(folder, before) == set()


@pytest.mark.parametrize("damage", [b"", b"not a certificate"])
def test_a_damaged_certificate_is_renewed(folder, damage):
    (folder / "keyserver/tls-certificate.pem").write_bytes(damage)
    assert states(folder)["keyserver/tls-certificate.pem"] is State.RENEWED
    assert accepts(folder, "keyserver", "keyserver")


def accepts(folder: Path, server: str, *names: str) -> bool:
    """A handshake by each name, as strict as openssl can be, with nothing but ca.pem."""
    trusting = ssl.create_default_context(cafile=folder / "client/ca.pem")
    trusting.verify_flags |= ssl.VERIFY_X509_STRICT
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    files = (folder / server / "tls-certificate.pem", folder / server / "tls-key.pem")
    serving.load_cert_chain(*files)
    for name in names:
        up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
        there = serving.wrap_bio(up, down, server_side=True)
        here = trusting.wrap_bio(down, up, server_hostname=name)
        for side in (here, there, here, there):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
        assert here.getpeercert(), "an end that is not over"
    return True


def test_clients_accept_the_servers_by_all_their_names(folder):
    here = ("localhost", "127.0.0.1", "::1")
    assert accepts(folder, "keyserver", "keyserver", *here)
    assert accepts(folder, "aggregator", "aggregator", *here)


def test_clients_accept_nobody_else(folder, tmp_path):
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        accepts(folder, "keyserver", "aggregator")
    states(tmp_path / "other")
    shutil.copy(tmp_path / "other/client/ca.pem", folder / "client/ca.pem")
    with pytest.raises(ssl.SSLCertVerificationError):
        accepts(folder, "keyserver", "keyserver")


def test_the_authority_signs_servers_and_nothing_else(folder):
    pem = (folder / "authority/ca.pem").read_bytes()
    authority = x509.load_pem_x509_certificate(pem)
    limits = authority.extensions.get_extension_for_class(x509.BasicConstraints).value
    assert (limits.ca, limits.path_length) == (True, 0)
    assert authority.not_valid_after_utc - authority.not_valid_before_utc > timedelta(days=3649)
    pem = (folder / "keyserver/tls-certificate.pem").read_bytes()
    server = x509.load_pem_x509_certificate(pem)
    assert server.not_valid_after_utc - server.not_valid_before_utc < timedelta(days=367)
    purposes = server.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(purposes) == [x509.ExtendedKeyUsageOID.SERVER_AUTH]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: (folder / "authority/ca.pem").unlink(), "damaged or half made"),
        (lambda folder: (folder / "authority/ca-key.pem").unlink(), "damaged or half made"),
        (lambda folder: (folder / "authority/ca.pem").write_text("?"), "damaged or half made"),
        (lambda folder: (folder / "authority/ca-key.pem").write_text(""), "damaged or half made"),
        (
            lambda folder: shutil.copy(
                folder / "keyserver/tls-key.pem", folder / "authority/ca-key.pem"
            ),
            "damaged or half made",
        ),
        (lambda folder: shutil.rmtree(folder / "authority"), "the private CA is gone"),
        (lambda folder: (folder / "client/ca.pem").write_text("?"), "client/ca.pem is not of"),
        (lambda folder: (folder / "keyserver/tls-key.pem").write_text("?"), "tls-key.pem is dam"),
        (
            lambda folder: (folder / "operator/run-operator-token").write_text("another"),
            "aggregator/operator-token and operator/run-operator-token hold different secrets",
        ),
    ],
)
def test_what_is_damaged_is_refused_and_left_as_it_is(folder, damage, words):
    damage(folder)
    before = contents(folder)
    refused = Operator({})("deployment", "prepare", str(folder))
    assert refused.returncode == 2
    assert words in refused.stderr
    assert "hint: " in refused.stderr
    assert changed(folder, before) == set()


def test_an_authority_that_has_ended_is_refused(folder):
    with pytest.raises(DeploymentError, match="the private CA has ended"):
        states(folder, days=3651)


def test_whoever_lost_their_folder_gets_the_same_again(folder):
    before = contents(folder)
    for name in ("operator", "client"):
        shutil.rmtree(folder / name)
    states(folder)
    assert changed(folder, before) == set()


def test_sqlite_is_a_file_in_the_servers_state(folder):
    for server in ("keyserver", "aggregator"):
        url = sqlite_url(Path(f"/var/lib/fedperm/{server}.db"))
        assert (folder / server / "database-url").read_text() == url


def test_with_postgres_each_server_has_a_role_and_a_password_of_its_own(tmp_path):
    operator = Operator({"FEDPERM_INIT_DATABASE": "postgres"})
    for _ in range(2):
        operator.succeeds("deployment", "prepare", str(tmp_path))
    script = (tmp_path / "postgres/databases.sql").read_text()
    passwords = {(tmp_path / "postgres/password").read_text()}
    for server in ("keyserver", "aggregator"):
        url = (tmp_path / server / "database-url").read_text()
        head, _, rest = url.partition(f"://{server}:")
        password, _, place = rest.partition("@")
        tls = "sslmode=verify-full&sslrootcert=/run/fedperm/ca.pem"
        assert (head, place) == ("postgresql+psycopg", f"postgres:5432/{server}?{tls}")
        check_is_private(url, "NOTHING")
        assert f"CREATE ROLE {server} LOGIN PASSWORD '{password}';" in script
        assert f"REVOKE ALL ON DATABASE {server} FROM PUBLIC;" in script
        passwords.add(password)
    assert min(map(len, passwords)) == 43
    assert len(passwords) == 3


def test_postgres_has_a_certificate_of_the_private_ca(tmp_path):
    Operator({})("deployment", "prepare", str(tmp_path), "--database", "postgres")
    authority = x509.load_pem_x509_certificate((tmp_path / "authority/ca.pem").read_bytes())
    pem = (tmp_path / "postgres/tls-certificate.pem").read_bytes()
    certificate = x509.load_pem_x509_certificate(pem)
    certificate.verify_directly_issued_by(authority)
    assert names_of("postgres", ()).are_in(certificate)
    assert (tmp_path / "postgres/tls-key.pem").stat().st_mode & 0o077 == 0


def test_a_url_from_before_there_was_tls_is_completed_and_keeps_its_password(tmp_path):
    operator = Operator({"FEDPERM_INIT_DATABASE": "postgres"})
    operator.succeeds("deployment", "prepare", str(tmp_path))
    file = tmp_path / "keyserver/database-url"
    complete = file.read_text()
    file.write_text(complete.partition("?")[0])
    script = (tmp_path / "postgres/databases.sql").read_text()
    operator.succeeds("deployment", "prepare", str(tmp_path))
    assert file.read_text() == complete
    assert (tmp_path / "postgres/databases.sql").read_text() == script


def test_a_deployment_stays_with_its_database(folder):
    before = contents(folder)
    refused = Operator({})("deployment", "prepare", str(folder), "--database", "postgres")
    assert refused.returncode == 2
    assert "names another database than postgres" in refused.stderr
    assert changed(folder, before) == set()


def test_names_come_from_variables_with_commas_and_blank_is_none(tmp_path):
    variables = {
        "FEDPERM_INIT_KEYSERVER_NAMES": "keys.example.org, 192.0.2.7,",
        "FEDPERM_INIT_AGGREGATOR_NAMES": "",
        "FEDPERM_INIT_DATABASE": "",
    }
    Operator(variables).succeeds("deployment", "prepare", str(tmp_path))
    assert accepts(tmp_path, "keyserver", "keys.example.org", "192.0.2.7", "keyserver")
    assert accepts(tmp_path, "aggregator", "aggregator")
    assert (tmp_path / "keyserver/database-url").read_text().startswith("sqlite:")


@pytest.mark.parametrize("name", ["https://keys.example.org", "keys:8441", "a b", "schlüssel.de"])
def test_what_is_no_name_is_refused_before_anything_is_made(tmp_path, name):
    refused = Operator({})("deployment", "prepare", str(tmp_path), "--aggregator-name", name)
    assert refused.returncode == 2
    assert "is neither a DNS name nor an IP address" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "keyserver").touch()
    refused = Operator({})("deployment", "prepare", str(tmp_path))
    assert refused.returncode == 2
    assert f"error: cannot use {tmp_path / 'keyserver'}" in refused.stderr
