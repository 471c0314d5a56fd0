"""The capability to take a secret key apart.

Whoever needs p and q in the open must name SECRET_KEY_ACCESS, so that every such place is found
by searching for that one word.
"""

from typing import Final, final


@final
class SecretKeyAccess:
    """Held by code that is allowed to see p and q."""

    __slots__ = ()


SECRET_KEY_ACCESS: Final = SecretKeyAccess()


def check_access(access: SecretKeyAccess) -> None:
    """Refuses everything but the one capability, so that a search for its name finds all uses."""
    if access is not SECRET_KEY_ACCESS:
        raise TypeError("taking a secret key apart needs SECRET_KEY_ACCESS")
