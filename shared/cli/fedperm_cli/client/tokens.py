"""Enrolment tokens: minted at the key server, kept in a file that only its owner reads."""

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fedperm.durable_file import creating
from fedperm.ids import ClientName, KeyName
from fedperm.wire.key_server import TokenRequest, TokenStatus
from fedperm_cli.errors import DirectoryError, OptionsError
from fedperm_cli.servers.sessions import KeyOperator

Written = Callable[[Path], AbstractContextManager[BinaryIO]]
"""`creating`, or `replacing` where a token that is of no use may lie."""


@dataclass(frozen=True)
class IssuedToken:
    """`token` is None where it went into a file."""

    token: str | None
    file: Path | None
    status: TokenStatus

    def to_json(self) -> str:
        file = None if self.file is None else str(self.file)
        status = self.status.model_dump(mode="json")
        return json.dumps({"token": self.token, "file": file, "status": status})


def token_request(uses: int, hours: float, client: ClientName | None) -> TokenRequest:
    if client is not None and uses != 1:
        raise OptionsError(
            f"a token for {uses} clients cannot name one", "give --name or --uses, not both"
        )
    return TokenRequest(uses=uses, expires_in_seconds=hours * 3600, client=client)


def check_new(file: Path | None) -> None:
    """A token is shown once: another one in its file would be the end of it."""
    if file is not None and os.path.lexists(file):
        raise OptionsError(
            f"{file} is there already", "choose another file, or remove this one if nobody needs it"
        )


async def issue_token(
    operator: KeyOperator,
    key: KeyName,
    wanted: TokenRequest,
    file: Path | None,
    written: Written = creating,
) -> IssuedToken:
    if file is None:
        minted = await operator.api.mint_token(key, wanted, operator.token)
        return IssuedToken(minted.token, None, minted.status)
    try:
        return IssuedToken(None, file, await _into_file(operator, key, wanted, file, written))
    except OSError as error:
        raise DirectoryError(
            f"cannot write {file}: {error.strerror}", "choose another file"
        ) from None


async def _into_file(
    operator: KeyOperator, key: KeyName, wanted: TokenRequest, file: Path, written: Written
) -> TokenStatus:
    """A token is shown once, so there is a file for it before it is made."""
    with written(file) as opened:
        minted = await operator.api.mint_token(key, wanted, operator.token)
        opened.write(minted.token.encode() + b"\n")
    return minted.status
