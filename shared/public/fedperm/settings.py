"""Settings from environment variables: one frozen class per program, built once at its start.

pydantic-settings ignores a misspelt variable even with `extra="forbid"`, so variables that carry
the program's prefix and name no setting are refused here.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from fedperm.errors import SettingsError


class Settings(BaseSettings):
    """Subclasses set `env_prefix`."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, env_ignore_empty=True
    )

    @classmethod
    def from_environment(cls) -> Self:
        """The settings, or one error that names every variable that is wrong."""
        prefix = cls.model_config.get("env_prefix", "")
        _refuse_unknown(prefix, {prefix + name.upper() for name in cls.model_fields}, os.environ)
        try:
            return cls()
        except ValidationError as error:
            wrong = "; ".join(
                f"{prefix}{'_'.join(map(str, e['loc'])).upper()}: {e['msg']}"
                for e in error.errors()
            )
            raise SettingsError(f"wrong settings: {wrong}", "correct these variables") from None


def _refuse_unknown(prefix: str, known: set[str], environment: Mapping[str, str]) -> None:
    unknown = {name for name in environment if name.upper().startswith(prefix)} - known
    if unknown:
        raise SettingsError(
            f"unknown settings: {', '.join(sorted(unknown))}",
            f"the known ones are {', '.join(sorted(known))}",
        )


def read_secret(path: Path) -> str:
    """A secret from a file, without the newline at its end."""
    try:
        secret = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"the secret file {path} cannot be read: {error}", "check its path and permissions"
        ) from None
    if not secret:
        raise SettingsError(f"the secret file {path} is empty", "write the secret into it")
    return secret
