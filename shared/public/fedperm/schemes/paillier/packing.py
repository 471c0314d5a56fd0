"""Many small sums in one Paillier plaintext.

A slot holds the sum of one parameter over all clients and is just wide enough that honest sums
cannot carry. The k1 rows of a mask's column are cut into groups of as many rows as a plaintext
has slots. See docs/adr/0002-packed-masks.md.
"""

from dataclasses import dataclass

import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

from fedperm.errors import AggregateError, ParameterError
from fedperm.schemes.scheme import MAX_CLIENTS


@dataclass(frozen=True)
class Packing:
    """Where row i of a window lies: group i // slots, slot i mod slots."""

    key_bits: int
    clients: int
    value_bits: int
    k1: int

    def __post_init__(self) -> None:
        if not 1 <= self.clients <= MAX_CLIENTS:
            raise ParameterError(
                f"clients is {self.clients}", f"plan for 1 to {MAX_CLIENTS:,} clients"
            )
        if self.slots < 1:
            raise ParameterError(
                f"a slot of {self.slot_bits} bits does not fit a {self.key_bits}-bit key",
                "use fewer clients, fewer value bits or a longer key",
            )

    @property
    def top_sum(self) -> int:
        """The largest honest sum: every client at 2^B - 1."""
        return self.clients * ((1 << self.value_bits) - 1)

    @property
    def slot_bits(self) -> int:
        return self.top_sum.bit_length()

    @property
    def slots(self) -> int:
        """Slots per plaintext. Two bits stay free: a full plaintext is below n/2, so that a
        result above the top slot is seen instead of being taken for a value."""
        return (self.key_bits - 2) // self.slot_bits

    @property
    def groups(self) -> int:
        return -(-self.k1 // self.slots)

    def rows_in(self, group: int) -> int:
        """Rows of a window that group holds: all slots, or what is left in the last group."""
        return min(self.slots, self.k1 - group * self.slots)

    def unit(self, slot: int) -> mpz:
        """The plaintext with a 1 in that slot and 0 elsewhere."""
        return mpz(1) << (self.slot_bits * slot)

    def split(self, plaintext: mpz, group: int) -> NDArray[np.int64]:
        """The sums in a group's slots; refuses anything above its top slot."""
        rows = self.rows_in(group)
        bits = rows * self.slot_bits
        if plaintext.bit_length() > bits:
            raise AggregateError(
                "a decrypted plaintext reaches above its top slot",
                "the aggregate is not a sum of well-formed updates: do not apply it",
            )
        octets = np.frombuffer(plaintext.to_bytes(-(-bits // 8), "little"), dtype=np.uint8)
        matrix = np.unpackbits(octets, count=bits, bitorder="little").reshape(rows, self.slot_bits)
        return matrix.astype(np.int64) @ (np.int64(1) << np.arange(self.slot_bits, dtype=np.int64))
