"""By which names and addresses a server is reached: its certificate must hold them all."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from cryptography import x509

from fedperm_cli.errors import OptionsError

_LONGEST_NAME = 253
_LABEL = "[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_DNS_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_HERE = ("localhost", "127.0.0.1", "::1")

Address = IPv4Address | IPv6Address


@dataclass(frozen=True)
class ServerNames:
    dns: frozenset[str]
    addresses: frozenset[Address]

    def alternatives(self) -> x509.SubjectAlternativeName:
        return x509.SubjectAlternativeName(
            [
                *map(x509.DNSName, sorted(self.dns)),
                *map(x509.IPAddress, sorted(self.addresses, key=str)),
            ]
        )

    def are_in(self, certificate: x509.Certificate) -> bool:
        try:
            held = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except x509.ExtensionNotFound:
            return False
        dns, addresses = (
            held.get_values_for_type(x509.DNSName),
            held.get_values_for_type(x509.IPAddress),
        )
        return self.dns <= set(dns) and self.addresses <= set(addresses)


def names_of(service: str, more: Iterable[str]) -> ServerNames:
    """The service's name among containers, this machine, and `more`, each some names with commas
    between them."""
    texts = [text.strip() for listed in more for text in listed.split(",")]
    given = [_parse(text) for text in (service, *_HERE, *texts) if text]
    return ServerNames(
        dns=frozenset(name for name in given if isinstance(name, str)),
        addresses=frozenset(name for name in given if not isinstance(name, str)),
    )


def _parse(text: str) -> str | Address:
    try:
        return ip_address(text)
    except ValueError:
        name = text.lower()
    if len(name) > _LONGEST_NAME or not _DNS_NAME.fullmatch(name):
        raise OptionsError(
            f"{text!r} is neither a DNS name nor an IP address",
            "give names like keys.example.org or 192.0.2.7, without scheme or port",
        )
    return name
