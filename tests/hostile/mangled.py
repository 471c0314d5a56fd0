"""Right octets, and what becomes of them: bits flipped, cut, doubled, filled with what parsers
stumble over."""

import re
import struct
from collections.abc import Callable

from hypothesis import strategies as st

MOST = 1 << 14

NASTY = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b'"\\ud800"',
    b'"\\u0000"',
    "\u202e\u0130\u212a\uff11".encode(),
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"-0.0",
    b"9" * 400,
    b"9" * 5000,
    b"0x10",
    b"1_000",
    b"true",
    b"null",
    b"[" * 5000,
    b'{"a":' * 2000,
    b'[1e400,{"__proto__":1}]',
    b'"' + b"a" * 4000 + b'"',
    b"=====",
    b"..",
    b".",
    b" \t\r\n",
    b"\r\ndata: x\r\n\r\n",
    struct.pack("<Q", 2**64 - 1),
    struct.pack("<Q", 2**31),
    struct.pack("<d", float("nan")),
)
"""Each of them has felled a parser somewhere."""


Change = Callable[[bytes, bytes], bytes]
"""Of what lies before a place, and of what lies behind it."""


def mangled(right: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """One to four changes, one after the other."""
    place = st.floats(0, 1, exclude_max=True)
    changes = st.lists(st.tuples(place, _CHANGES), min_size=1, max_size=4)
    return st.tuples(right, changes).map(_changed)


def _changed(given: tuple[bytes, list[tuple[float, Change]]]) -> bytes:
    octets, changes = given
    for place, change in changes:
        at = int(place * len(octets))
        octets = change(octets[:at], octets[at:])[:MOST]
    return octets


def _flip(bit: int) -> Change:
    return lambda before, after: (
        before + bytes([after[0] ^ 1 << bit]) + after[1:] if after else before
    )


def _leave_out(length: int) -> Change:
    return lambda before, after: before + after[length:]


def _double(length: int) -> Change:
    return lambda before, after: before + after[:length] + after


def _insert(octets: bytes) -> Change:
    return lambda before, after: before + octets + after


def _replace(octets: bytes) -> Change:
    return lambda before, after: before + octets + after[len(octets) :]


def _other_number(octets: bytes) -> Change:
    """The next number in digits becomes something else: lengths and offsets are such."""
    return lambda before, after: before + re.sub(rb"[0-9]+", lambda _: octets, after, count=1)


_WORDS = st.sampled_from(NASTY) | st.binary(max_size=16)
_CHANGES = st.one_of(
    st.integers(0, 7).map(_flip),
    (st.integers(1, 64) | st.just(MOST)).map(_leave_out),
    st.integers(1, 64).map(_double),
    _WORDS.map(_insert),
    _WORDS.map(_replace),
    _WORDS.map(_other_number),
)
