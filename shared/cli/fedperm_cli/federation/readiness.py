"""Whether a server of ours can do its work."""

from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

_TIMEOUT_SECONDS = 5.0


def answers_ready(address: str) -> bool:
    """By /readyz, over plain HTTP on this machine."""
    parts = urlsplit(address)
    connection = HTTPConnection(str(parts.hostname), parts.port, timeout=_TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
