"""Rows of fixed-width little-endian numbers."""

from collections.abc import Iterator

import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray


def read_ciphertexts(array: NDArray[np.uint8]) -> Iterator[mpz]:
    """The numbers in an array whose last axis is the octets of one number, in order."""
    width = array.shape[-1]
    for row in array.reshape(-1, width):
        yield mpz.from_bytes(row.tobytes(), "little")
