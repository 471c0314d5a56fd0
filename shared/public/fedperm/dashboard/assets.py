"""The files that the page is made of, read once from the package."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import PurePath

from fedperm.errors import UnknownResourceError

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}


@dataclass(frozen=True)
class Asset:
    octets: bytes
    media_type: str
    tag: str


@cache
def assets() -> dict[str, Asset]:
    """By name; nothing else can be asked for."""
    folder = files("fedperm.dashboard") / "static"
    return {
        file.name: _asset(file.name, file.read_bytes())
        for file in folder.iterdir()
        if PurePath(file.name).suffix in _TYPES
    }


def asset(name: str) -> Asset:
    found = assets().get(name)
    if found is None:
        raise UnknownResourceError("the dashboard has no such file", "open /dashboard")
    return found


def _asset(name: str, octets: bytes) -> Asset:
    tag = hashlib.sha256(octets).hexdigest()
    return Asset(octets, _TYPES[PurePath(name).suffix], f'"{tag}"')
