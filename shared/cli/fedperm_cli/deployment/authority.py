"""A private certificate authority: made once, it signs the certificates of both servers."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from fedperm_cli.deployment.server_names import ServerNames

AUTHORITY_LIFE = timedelta(days=3650)
CERTIFICATE_LIFE = timedelta(days=365)
RENEWAL = timedelta(days=30)
"""A certificate that ends so soon is renewed."""
_SKEW = timedelta(hours=1)
"""Clocks of other machines may be behind."""


@dataclass(frozen=True)
class Authority:
    certificate: x509.Certificate
    key: EllipticCurvePrivateKey = field(repr=False)

    def issue(
        self, holder: str, key: EllipticCurvePublicKey, names: ServerNames, now: datetime
    ) -> x509.Certificate:
        """For a server that is reached by these names; it does not outlive the authority."""
        end = min(now + CERTIFICATE_LIFE, self.certificate.not_valid_after_utc)
        subject_key = self.certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
        authority_key = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier
        return (
            _builder(holder, self.certificate.subject, key, now, end)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(digital_signature=True), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(names.alternatives(), critical=False)
            .add_extension(authority_key(subject_key.value), critical=False)
            .sign(self.key, hashes.SHA256())
        )

    def still_vouches(
        self,
        certificate: x509.Certificate,
        key: EllipticCurvePublicKey,
        names: ServerNames,
        now: datetime,
    ) -> bool:
        """Whether a certificate may stay as it is."""
        try:
            certificate.verify_directly_issued_by(self.certificate)
        except (ValueError, TypeError, InvalidSignature):
            return False
        return (
            certificate.public_key() == key
            and certificate.not_valid_after_utc > now + RENEWAL
            and names.are_in(certificate)
        )


def new_authority(now: datetime) -> Authority:
    key = new_key()
    name = _name("FedPerm deployment CA")
    certificate = (
        _builder("FedPerm deployment CA", name, key.public_key(), now, now + AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(key_cert_sign=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Authority(certificate, key)


def new_key() -> EllipticCurvePrivateKey:
    return generate_private_key(SECP256R1())


def key_to_pem(key: EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def key_from_pem(pem: bytes) -> EllipticCurvePrivateKey:
    """ValueError for anything else."""
    key = load_pem_private_key(pem, password=None)
    if not isinstance(key, EllipticCurvePrivateKey):
        raise ValueError("not an elliptic-curve key")  # noqa: TRY004 (as for other damage)
    return key


def certificate_to_pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)


def authority_from_pem(certificate: bytes, key: bytes) -> Authority:
    """ValueError for what is no authority of ours."""
    read = Authority(x509.load_pem_x509_certificate(certificate), key_from_pem(key))
    if read.certificate.public_key() != read.key.public_key():
        raise ValueError("the key is not the certificate's")
    try:
        read.certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
    except x509.ExtensionNotFound:
        raise ValueError("the certificate has no subject key identifier") from None
    return read


def _builder(
    holder: str, issuer: x509.Name, key: EllipticCurvePublicKey, now: datetime, end: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_name(holder))
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _usage(*, digital_signature: bool = False, key_cert_sign: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        key_cert_sign=key_cert_sign,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
