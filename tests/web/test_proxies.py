"""Whose word about a caller's address is believed."""

import pytest

from fedperm.errors import SettingsError
from fedperm.web.proxies import NO_PROXIES, TrustedProxies


def test_nobody_is_trusted_unless_it_is_said():
    assert not NO_PROXIES
    assert "127.0.0.1" not in NO_PROXIES
    assert TrustedProxies.named("") == NO_PROXIES


def test_addresses_and_networks_are_trusted():
    proxies = TrustedProxies.named("192.0.2.7, 10.0.0.0/8,2001:db8::/32")
    assert all(host in proxies for host in ("192.0.2.7", "10.1.2.3", "2001:db8::1"))
    assert not any(host in proxies for host in ("192.0.2.8", "11.0.0.1", "2001:db9::1", "proxy"))
    assert proxies.texts() == ["192.0.2.7/32", "10.0.0.0/8", "2001:db8::/32"]


@pytest.mark.parametrize("name", ["*", "proxy.example", "10.0.0.1/8", "10.0.0.0/33"])
def test_what_is_no_address_is_refused(name):
    """A star above all: it would believe everybody."""
    with pytest.raises(SettingsError, match="not an address"):
        TrustedProxies.named(name)
