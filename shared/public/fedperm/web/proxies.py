"""Proxies whose word about a caller's address is believed. Nobody's is, unless settings name it."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from fedperm.errors import SettingsError

Network = IPv4Network | IPv6Network


@dataclass(frozen=True)
class TrustedProxies:
    """By address. What they say in X-Forwarded-For and X-Forwarded-Proto is taken for true; what
    their own callers have said there is not (`uvicorn.middleware.proxy_headers` goes from the right
    to the first address that is none of these)."""

    networks: tuple[Network, ...] = ()

    @classmethod
    def named(cls, names: str) -> "TrustedProxies":
        """Addresses and networks, with commas between them; empty for none."""
        return cls(tuple(_networks(name.strip() for name in names.split(",") if name.strip())))

    def __contains__(self, host: str) -> bool:
        try:
            address = ip_address(host)
        except ValueError:
            return False
        return any(address in network for network in self.networks)

    def __bool__(self) -> bool:
        return bool(self.networks)

    def texts(self) -> list[str]:
        return [str(network) for network in self.networks]


def _networks(names: Iterable[str]) -> Iterable[Network]:
    for name in names:
        try:
            yield ip_network(name)
        except ValueError:
            raise SettingsError(
                f"{name} is not an address or a network",
                "name proxies as in 192.0.2.7 or 10.0.0.0/8; * is nobody's name",
            ) from None


NO_PROXIES = TrustedProxies()
