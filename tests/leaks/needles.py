"""Secrets as they would look where they must not be: every usual writing of each.

Only the middle half of a writing is searched for. Memory that was given back is used again from
its ends, and what is left of a number is still a leak.
"""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

SHORTEST = 12
"""Octets. Shorter pieces are found by accident."""


@dataclass(frozen=True)
class Needle:
    secret: str
    form: str
    octets: bytes

    def __post_init__(self) -> None:
        assert len(self.octets) >= SHORTEST, (self.secret, self.form)


def number(name: str, value: int) -> list[Needle]:
    """As octets in either order (GMP's words are the little one), as Python keeps it, and as
    text."""
    size = -(-value.bit_length() // 8)
    big, little = value.to_bytes(size, "big"), value.to_bytes(size, "little")
    forms = {"decimal": str(value).encode(), "Python's digits": _digits(value)}
    forms |= {"big-endian": big, "little-endian": little}
    forms |= _texts(big, "") | _texts(little, " of little-endian")
    return _needles(name, forms)


def octets(name: str, secret: bytes) -> list[Needle]:
    """A key or a token's secret part."""
    return _needles(name, {"raw": secret} | _texts(secret, ""))


def text(name: str, secret: str) -> list[Needle]:
    """A secret that travels as text, such as an operator's."""
    return octets(name, secret.encode())


def pattern(name: str, permutation: Sequence[int]) -> list[Needle]:
    """A permutation, and the one that undoes it: as arrays of any width, and as JSON."""
    forms: dict[str, bytes] = {}
    for way, numbers in (("", permutation), (" undone", np.argsort(permutation).tolist())):
        for width in (1, 2, 4, 8):
            forms[f"array of {8 * width} bits{way}"] = np.array(numbers, f"<u{width}").tobytes()
        for separator in (",", ", "):
            forms[f"text {separator!r}{way}"] = separator.join(map(str, numbers)).encode()
    return _needles(name, forms)


def vector(name: str, values: Sequence[float]) -> list[Needle]:
    """Parameters or an update: as arrays of floats, as text, and each number by itself."""
    forms = {
        "array of 64 bits": np.array(values, "<f8").tobytes(),
        "array of 32 bits": np.array(values, "<f4").tobytes(),
        "text": ",".join(map(repr, map(float, values))).encode(),
        "text with spaces": ", ".join(map(repr, map(float, values))).encode(),
    }
    singles = {f"number {i}": repr(float(value)).encode() for i, value in enumerate(values)}
    return _needles(name, forms | {k: v for k, v in singles.items() if len(v) > SHORTEST})


def _needles(name: str, forms: dict[str, bytes]) -> list[Needle]:
    return [Needle(name, form, _middle(writing)) for form, writing in forms.items()]


def _middle(writing: bytes) -> bytes:
    quarter = len(writing) // 4
    cut = writing[quarter : len(writing) - quarter]
    return cut if len(cut) >= SHORTEST else writing


def _digits(value: int) -> bytes:
    """CPython's integers: 30 bits in every 32."""
    count = -(-value.bit_length() // 30)
    return np.array([value >> (30 * i) & (2**30 - 1) for i in range(count)], "<u4").tobytes()


def _texts(secret: bytes, order: str) -> dict[str, bytes]:
    return dict(_hexadecimal(secret, order)) | dict(_base64(secret, order))


def _hexadecimal(secret: bytes, order: str) -> Iterator[tuple[str, bytes]]:
    yield f"hexadecimal{order}", secret.hex().encode()
    yield f"capital hexadecimal{order}", secret.hex().upper().encode()


def _base64(secret: bytes, order: str) -> Iterator[tuple[str, bytes]]:
    """At each place that it can have within a longer text; letters that its neighbours have a
    part in are left out."""
    for shift in range(3):
        whole = base64.b64encode(bytes(shift) + secret)
        own = whole[4 if shift else 0 : -4]
        yield f"base64 shifted by {shift}{order}", own
        yield f"base64url shifted by {shift}{order}", own.translate(bytes.maketrans(b"+/", b"-_"))
