"""What every refusal has in common: its type, a hint, and nothing of the secret key."""

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from fedperm.errors import FedPermError
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.keys import SecretKey
from tests.wire.small_messages import KEY_BITS, key_of


def refusal(
    expected: type[FedPermError], decode: Callable[[bytes], Any], body: bytes
) -> FedPermError:
    """The error with which the body is refused, of exactly the expected type."""
    with pytest.raises(FedPermError) as caught:
        decode(body)
    error = caught.value
    assert type(error) is expected
    assert error.hint
    assert error.hint in str(error)
    assert_shows_no_factor(error, key_of(KEY_BITS))
    return error


def assert_shows_no_factor(error: FedPermError, key: SecretKey) -> None:
    """Neither p nor q, in decimal or hexadecimal of either byte order, in message or traceback."""
    text = "".join(traceback.format_exception(error)).lower()
    for prime in key.factors(SECRET_KEY_ACCESS):
        octets = prime.to_bytes(-(-prime.bit_length() // 8), "big")
        for form in (str(prime), octets.hex(), octets[::-1].hex()):
            assert form not in text
