"""A peer's public key is one that somebody can hold: the points of small order and second texts of
one key are refused. The points are found here by arithmetic on the curves themselves."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from fedperm.errors import UntrustedError
from fedperm.wire.public_keys import (
    KeyText,
    SealingKeyText,
    sealing_key,
    signing_key,
    text_of,
    to_text,
)

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
A = 486662
SIGNING, SEALING = TypeAdapter(KeyText), TypeAdapter(SealingKeyText)

Point = tuple[int, int]


def added(one: Point, two: Point) -> Point:
    """On -x^2 + y^2 = 1 + d x^2 y^2; the law is complete."""
    (x1, y1), (x2, y2) = one, two
    product = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P) % P
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, P) % P
    return x, y


def times(number: int, point: Point) -> Point:
    result: Point = (0, 1)
    for bit in f"{number:b}":
        result = added(result, result)
        result = added(result, point) if bit == "1" else result
    return result


def root(square: int) -> int | None:
    """Modulo P, which is 5 modulo 8."""
    found = pow(square, (P + 3) // 8, P)
    for candidate in (found, found * pow(2, (P - 1) // 4, P) % P):
        if candidate * candidate % P == square % P:
            return candidate
    return None


def small_points() -> set[Point]:
    """The eight whose order divides 8: a point of order 8, and its multiples."""
    y = 2
    while True:
        y += 1
        x = root((y * y - 1) * pow(D * y * y + 1, -1, P) % P)
        if x is not None and times(4, small := times(ORDER, (x, y))) != (0, 1):
            return {times(number, small) for number in range(8)}


def encodings(x: int, y: int) -> set[bytes]:
    """All octets that a lenient reader takes for the point: y may be written as y + p where there
    is room, and where x is 0 either sign will do."""
    signs = {0, 1} if x == 0 else {x & 1}
    numbers = {y, y + P} if y + P < 1 << 255 else {y}
    return {(sign << 255 | number).to_bytes(32, "little") for sign in signs for number in numbers}


SMALL = sorted({octets for point in small_points() for octets in encodings(*point)})


def small_coordinates() -> set[int]:
    """u of v^2 = u^3 + A u^2 + u, and of its twist, where the order divides 8: (0, 0), those whose
    double is (0, 0), which have u = 1 or u = -1, and those whose double has such a u."""
    found = {0, 1, P - 1}
    for doubled in (1, P - 1):
        # ((u^2 - 1)^2) = doubled * 4 u (u^2 + A u + 1), divided by u^2, with w = u + 1/u
        w_root = root(4 * (1 + doubled * A + 1) % P)
        for sign in (1, -1) if w_root is not None else ():
            w = (2 * doubled + sign * w_root) % P
            if (inner := root(w * w - 4)) is not None:
                found |= {(w + s * inner) * pow(2, -1, P) % P for s in (1, -1)}
    return found


def test_there_are_eight_small_points_and_fourteen_texts_of_them():
    assert len(small_points()) == 8
    assert len(SMALL) == 14


@pytest.mark.parametrize("octets", SMALL, ids=bytes.hex)
def test_a_signing_key_of_small_order_is_refused(octets):
    with pytest.raises(ValidationError, match="anybody can sign"):
        SIGNING.validate_python(to_text(octets))
    with pytest.raises(UntrustedError, match="anybody can sign"):
        signing_key(to_text(octets))


def test_a_sealing_key_of_small_order_is_refused():
    """And no other is: what is left out seals nothing, whoever tries."""
    assert len(small_coordinates()) == 5
    for u in (*small_coordinates(), P, P + 1):
        octets = u.to_bytes(32, "little")
        with pytest.raises(ValidationError, match="nothing can be sealed"):
            SEALING.validate_python(to_text(octets))
        with pytest.raises(UntrustedError, match="nothing can be sealed"):
            sealing_key(to_text(octets))


@given(st.integers(P, 2**255 - 1), st.booleans())
def test_a_number_that_is_not_reduced_is_refused(number, sign):
    text = to_text((number | sign << 255).to_bytes(32, "little"))
    for kind in (SIGNING, SEALING):
        with pytest.raises(ValidationError, match="reduced form"):
            kind.validate_python(text)


@given(st.binary(min_size=32, max_size=32))
def test_whatever_somebody_holds_is_taken(secret):
    signing = text_of(Ed25519PrivateKey.from_private_bytes(secret).public_key())
    sealing = text_of(X25519PrivateKey.from_private_bytes(secret).public_key())
    assert SIGNING.validate_python(signing) == text_of(signing_key(signing))
    assert SEALING.validate_python(sealing) == text_of(sealing_key(sealing))
