"""Logs, error reports, dumps and pickles go to people who must not have secret keys."""

import copy
import json
import logging
import os
import pickle
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from fedperm.logs import JsonLines
from fedperm_keyserver.stores.keys import KeyStore
from fedperm_secret.access import SecretKeyAccess
from fedperm_secret.schemes.paillier.decryption import Decryptor
from fedperm_secret.schemes.paillier.keys import SecretKey
from tests.cli.hostile_server import HOSTILE, answering, obeyed, problem
from tests.client.documents import rounds
from tests.client.federation import KEY, Federation, drive
from tests.client.test_command import variables
from tests.keys.sealing import taken_out
from tests.keys.secrecy import pieces_shown
from tests.keyserver.server import KEK
from tests.leaks import needles
from tests.leaks.scanner import Scanner
from tests.leaks.secrets_of_a_run import of_secret_key

pytestmark = pytest.mark.anyio


async def test_blocked_finding_keys_in_the_log_of_a_run(federation: Federation, caplog):
    """At the finest level; a run of real processes is searched in tests/leaks."""
    caplog.set_level(logging.DEBUG)
    await federation.start_lines(rounds=rounds(count=1))
    ada, ben = await federation.line_homes("ada", "ben")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    server = federation.key_server
    secret_key = taken_out(server.authority.vault, KeyStore(server.database).epoch(KEY, 1))
    written = "\n".join(map(JsonLines().format, caplog.records)).encode()
    needed = [*of_secret_key(secret_key, "the key"), *needles.octets("KEK", bytes.fromhex(KEK))]
    assert Scanner(needed).octets("log", [written]).hits == set()
    assert b"key released" in written


def test_blocked_printing_a_key(small_key: SecretKey):
    held = {"key": small_key, "decryptor": Decryptor(small_key)}
    assert pieces_shown(f"{held} {held!r} {small_key} {small_key!r}", small_key) == []


def fail(key: SecretKey) -> None:
    decryptor = Decryptor(key)
    raise ValueError(f"{key} in {decryptor}")


def test_blocked_finding_keys_in_an_error_report(small_key: SecretKey):
    """With the values of all variables, as error trackers send them."""
    with pytest.raises(ValueError, match="SecretKey of") as caught:
        fail(small_key)
    report = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    text = "".join(report.format())
    assert "decryptor = " in text
    assert pieces_shown(text, small_key) == []


def test_blocked_pickling_a_key(small_key: SecretKey):
    for holder in (small_key, Decryptor(small_key)):
        with pytest.raises(TypeError):
            pickle.dumps(holder)
        with pytest.raises(TypeError):
            copy.deepcopy(holder)


def test_blocked_taking_a_key_apart_without_the_capability(small_key: SecretKey):
    for forged in (None, object(), SecretKeyAccess()):
        with pytest.raises(TypeError):
            small_key.factors(forged)


def test_blocked_writing_lines_of_its_own_into_a_log(tmp_path: Path):
    """A server answers a client with lines, escapes and a text without end: each of the client's
    lines is still one object, and short."""
    words = HOSTILE + '\n{"level": "info", "message": "all is well"}\n' + "x" * 1_000_000
    with answering({"/": problem(words)}, status=409) as address:
        settings = variables(tmp_path, KEYSERVER_URL=address, PATIENCE_SECONDS="0")
        client = subprocess.run(
            [sys.executable, "-m", "fedperm_client"],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
    lines = client.stderr.splitlines()
    assert client.returncode == 1
    assert obeyed(client.stderr) == set()
    assert max(map(len, lines)) < 10_000
    messages = [json.loads(line)["message"] for line in lines]
    assert "gnp.exe" in messages[-1]
    assert "all is well" not in messages
