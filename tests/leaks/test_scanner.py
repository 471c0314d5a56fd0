"""The scanner finds what is planted, in every writing and in every place, and nothing else."""

import base64
import os
import random
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.leaks import needles, scanner
from tests.leaks.scanner import Scanner, reason_not_to_read
from tests.proc import family_of

P = random.Random(1).getrandbits(512) | 1 << 511
TOKEN = "c29tZSBzZWNyZXQgdGhhdCBub2JvZHkga25vd3M"  # noqa: S105 (a test's own)
PATTERN = random.Random(2).sample(range(64), 64)
PARAMETERS = [random.Random(i).gauss(0, 1) for i in range(40)]
KEY = random.Random(3).randbytes(32)

NEEDLES = [
    *needles.number("p", P),
    *needles.text("token", TOKEN),
    *needles.octets("identity key", KEY),
    *needles.pattern("pattern", PATTERN),
    *needles.vector("model", PARAMETERS),
]
SCANNER = Scanner(NEEDLES)
SIZE, MASK = 64, (1 << 64) - 1

UNDONE = [PATTERN.index(i) for i in range(64)]

PLANTED = {
    "GMP's words": (
        "p",
        b"".join((P >> 64 * i & (1 << 64) - 1).to_bytes(8, "little") for i in range(8)),
    ),
    "big-endian": ("p", P.to_bytes(SIZE, "big")),
    "hexadecimal": ("p", f"n is {P:x}.".encode()),
    "capital hexadecimal": ("p", f"{P:X}".encode()),
    "decimal": ("p", f'{{"p": {P}}}'.encode()),
    "base64": ("p", base64.b64encode(P.to_bytes(SIZE, "big"))),
    "base64 within": ("p", base64.b64encode(b"x" + P.to_bytes(SIZE, "big") + b"yz")),
    "base64url within": ("p", base64.urlsafe_b64encode(b"xy" + P.to_bytes(SIZE, "big"))),
    "base64 of little-endian": ("p", base64.b64encode(P.to_bytes(SIZE, "little"))),
    "without its ends": ("p", P.to_bytes(SIZE, "little")[16:-16]),
    "token": ("token", f"Authorization: Bearer {TOKEN}".encode()),
    "token in base64": ("token", base64.b64encode(TOKEN.encode())),
    "identity key": ("identity key", KEY),
    "identity key in base64url": ("identity key", base64.urlsafe_b64encode(KEY)),
    "pattern of octets": ("pattern", bytes(PATTERN)),
    "pattern in 16 bits": ("pattern", b"".join(i.to_bytes(2, "little") for i in PATTERN)),
    "pattern in 32 bits": ("pattern", b"".join(i.to_bytes(4, "little") for i in PATTERN)),
    "pattern in 64 bits": ("pattern", b"".join(i.to_bytes(8, "little") for i in UNDONE)),
    "pattern as JSON": ("pattern", str(PATTERN).encode()),
    "pattern as short JSON": ("pattern", str(UNDONE).replace(" ", "").encode()),
    "model as JSON": ("model", str(PARAMETERS).encode()),
}


@pytest.mark.parametrize("form", PLANTED)
def test_every_writing_is_found_in_a_file(tmp_path, form):
    secret, planted = PLANTED[form]
    (tmp_path / "deep").mkdir()
    for before in range(4):  # at any alignment
        (tmp_path / "deep" / "file").write_bytes(os.urandom(1000 + before) + planted + b"more")
        scan = SCANNER.folder(tmp_path)
        assert scan.secrets == {secret}
        assert scan.octets == 1000 + before + len(planted) + 4


def test_every_needle_finds_itself_and_no_other_secret():
    for needle in NEEDLES:
        hits = SCANNER.octets("here", [b"." * 99 + needle.octets + b"."]).hits
        assert {hit.secret for hit in hits} == {needle.secret}


@pytest.mark.parametrize("form", PLANTED)
def test_every_writing_is_found_across_two_chunks(form):
    secret, planted = PLANTED[form]
    for cut in (1, len(planted) // 2, len(planted) - 1):
        pieces = [b"before" + planted[:cut], planted[cut:] + b"after"]
        assert SCANNER.octets("here", pieces).secrets == {secret}


def test_other_data_hold_nothing():
    noise = random.Random(9).randbytes(1 << 22)
    other = b"".join(needle.octets[:-1] for needle in NEEDLES)
    for data in (b"", b"x", bytes(1 << 20), noise, noise.hex().encode(), str(noise[:99]).encode()):
        assert SCANNER.octets("here", [data]).hits == frozenset()
    assert SCANNER.octets("here", [bytes(4)] * 9).octets == 36
    assert SCANNER.octets("here", [other[:7], b"\0" * 500]).hits == frozenset()


LONG_SECONDS = 3.0
"""Of CPU, in the best of three: a busy machine is slower, but not each time."""


def test_arrays_that_begin_with_zeros_are_found_and_do_not_slow_the_search():
    """A word of zeros would be looked at wherever memory is empty: 16 million times here."""
    permutation = [*range(48, 64), *range(48)]
    scanner = Scanner(needles.pattern("it", permutation))
    data = [bytes(1 << 24), np.array(permutation).tobytes()]
    seconds = []
    while len(seconds) < 3 and min(seconds, default=LONG_SECONDS) >= LONG_SECONDS:
        begin = time.thread_time()
        hits = scanner.octets("here", data).hits
        seconds.append(time.thread_time() - begin)
    assert {hit.form for hit in hits} == {"array of 64 bits"}
    assert min(seconds) < LONG_SECONDS


@pytest.mark.parametrize("size", [100, 20_000])
def test_a_row_is_found_also_where_its_page_ends(tmp_path, size):
    """20,000 octets do not fit into a page; the needle is moved over a whole one."""
    path = tmp_path / "some.db"
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE things (id INTEGER, text TEXT, octets BLOB)")
        for i in range(0, 4096, 512):
            blob = bytes(size + i) + P.to_bytes(SIZE, "little") + bytes(size)
            database.execute("INSERT INTO things VALUES (?, ?, ?)", (i, f"{i}", blob))
    assert SCANNER.database(path).secrets == {"p"}
    with sqlite3.connect(path) as database:
        database.execute("UPDATE things SET octets = NULL, text = ?", (f"it was {P}",))
        assert SCANNER.database(path).secrets == {"p"}
        database.execute("UPDATE things SET text = 'nothing'")
    database.close()
    assert SCANNER.database(path).hits == frozenset()


HOLDER = """
import sys, time
from gmpy2 import mpz
kinds = {"int": int, "mpz": mpz, "text": str, "list": lambda n: [n.to_bytes(64, "big")]}
held = kinds[sys.argv[1]](int(sys.stdin.read()))
print("ready", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize(("kind", "form"), [("int", "Python's digits"), ("mpz", "little-endian")])
def test_a_secret_in_a_living_process_is_found(kind, form):
    """It comes through a pipe, so a decimal copy of it may be there as well."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        holder.stdin.write(str(P).encode())
        holder.stdin.close()
        assert holder.stdout.readline() == b"ready\n"
        if reason := reason_not_to_read(holder.pid):
            pytest.skip(reason)
        (pid,) = family_of(holder.pid)
        scan = SCANNER.process(pid)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert form in {hit.form for hit in scan.hits}
    assert scan.secrets == {"p"}
    assert scan.octets > 1 << 20


def test_a_scan_says_what_was_looked_at():
    scan = SCANNER.octets("a log", [b"x" * 1_500_000, PLANTED["hexadecimal"][1]])
    assert str(scan).split() == ["a", "log", "1.500", "MB", "1", "hits"]
    assert scanner.together("all", [scan, scan]).octets == 2 * scan.octets
