"""Where the key-encryption key comes from: a file, a program, a variable.

The program is how a KMS, an HSM or several people with shares supply it: whatever prints 64
hexadecimal digits. What it says is never shown: on one stream it is the secret, on the other it may
be. A program that asks people for something does so at their terminal.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from fedperm.errors import SettingsError
from fedperm.settings import read_secret
from fedperm_keyserver.vault import key_encryption_key
from fedperm_secret.at_rest import KeyEncryptionKey


@dataclass(frozen=True)
class KeySource:
    """One of them, or none; `seconds` is how long the program may take."""

    file: Path | None
    command: tuple[str, ...]
    variable: SecretStr | None
    seconds: float

    def read(self) -> KeyEncryptionKey | None:
        if sum(map(bool, (self.file, self.command, self.variable))) > 1:
            raise SettingsError(
                "the key-encryption key is given twice",
                "set the file, the command or the variable, not both",
            )
        if self.file:
            return key_encryption_key(read_secret(self.file))
        if self.command:
            return key_encryption_key(_printed(self.command, self.seconds))
        if self.variable:
            return key_encryption_key(self.variable.get_secret_value())
        return None


def read_command(text: object) -> object:
    """As it stands in a variable. An argument of a program is no shell's to take apart."""
    if not isinstance(text, str):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not (isinstance(found, list) and found and all(isinstance(part, str) for part in found)):
        raise ValueError(
            'not a JSON list of texts like ["/usr/local/bin/unseal", "--name", "main"]'
        )
    return tuple(found)


def _printed(command: tuple[str, ...], seconds: float) -> str:
    """One that takes too long is killed. Nobody waits for what it has started itself, which may
    hold its output open for ever."""
    try:
        with subprocess.Popen(  # noqa: S603 (whoever sets the command owns the server)
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as program:
            printed = _output(program, seconds)
    except OSError as error:
        raise _fruitless(f"cannot be run: {error.strerror}") from None
    if program.returncode != 0:
        raise _fruitless(f"ended with {program.returncode}")
    return printed.decode("ascii", "replace").strip()


def _output(program: "subprocess.Popen[bytes]", seconds: float) -> bytes:
    try:
        printed, _ = program.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        program.kill()
        raise _fruitless(f"took longer than {seconds:g} s") from None  # the cause holds its output
    return printed


def _fruitless(why: str) -> SettingsError:
    return SettingsError(
        f"the program that prints the key-encryption key {why}",
        "run it by hand as the server's user, and see what it says",
    )
