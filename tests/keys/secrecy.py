"""What a text must not show of a secret key."""

from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.keys import SecretKey

PIECE = 12
"""Hexadecimal or decimal digits in a row: a piece this long is no coincidence."""


def pieces_shown(text: str, key: SecretKey) -> list[str]:
    """Every run of PIECE digits of p or q, decimal or hexadecimal, that the text holds."""
    forms = [f"{prime:{base}}" for prime in key.factors(SECRET_KEY_ACCESS) for base in ("d", "x")]
    pieces = [
        form[start : start + PIECE] for form in forms for start in range(len(form) - PIECE + 1)
    ]
    return [piece for piece in pieces if piece in text.lower()]
