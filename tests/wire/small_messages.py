"""Messages of every kind, small enough to try each of their bytes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import numpy as np
from gmpy2 import mpz
from hypothesis import strategies as st
from numpy.typing import NDArray

from fedperm.aggregate import EncryptedSum, aggregate_body, decode_aggregate, encode_aggregate
from fedperm.planner import Plan, plan
from fedperm.schemes.paillier.blinding import BlindingPool
from fedperm.schemes.paillier.masks import MaskEncoder
from fedperm.schemes.paillier.scheme import Paillier
from fedperm.schemes.scheme import Arrays
from fedperm.uploads.masks import MASKS
from fedperm.wire.body import Body
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import SecretKey, generate_key
from tests.core.federation import checked, half_of

KEY_BITS = 128
PLAN = plan(d=5, k1=3, k2=2, clients=4, value_bits=12, scheme=Paillier(KEY_BITS))
"""Two windows of three values in <u2, two patterns, one group."""

small_plans = st.builds(
    plan,
    d=st.integers(1, 40),
    k1=st.integers(1, 12),
    k2=st.integers(1, 4),
    clients=st.integers(1, 300),
    value_bits=st.integers(1, 20),
    scheme=st.sampled_from([64, 80, 128, 256, 512]).map(Paillier),
)


@cache
def key_of(key_bits: int) -> SecretKey:
    return generate_key(Random(key_bits), key_bits, insecure_for_tests=True)


@cache
def blinding_of(key_bits: int) -> SecretBlinding:
    return SecretBlinding(key_of(key_bits))


def random_update(plan: Plan, seed: int) -> Arrays:
    """Uniform values, uniform patterns, honest masks."""
    randomness = Random(seed)
    pool = BlindingPool(blinding_of(plan.scheme.key_bits), randomness)
    coded = _random_values(plan, randomness)
    return MASKS.prepare(coded, plan, MaskEncoder(plan.layout, pool), randomness)


def random_aggregate(plan: Plan, seed: int) -> EncryptedSum:
    """Encryptions of uniform plaintexts, from a uniform number of contributors."""
    randomness = Random(seed)
    blinding = blinding_of(plan.scheme.key_bits)
    public_key, shape = blinding.public_key, (plan.geometry.windows, plan.layout.packing.groups)
    ciphertexts = [
        public_key.encrypt(mpz(randomness.randrange(int(public_key.n))), blinding.draw(randomness))
        for _ in range(shape[0] * shape[1])
    ]
    arrays = {"ciphertexts": public_key.to_array(ciphertexts, *shape)}
    return EncryptedSum(arrays, randomness.randint(1, plan.layout.clients))


def update_body(plan: Plan) -> Body:
    return Body(MASKS.tensors(plan))


def _random_values(plan: Plan, randomness: Random) -> NDArray[Any]:
    shape = (plan.geometry.windows, plan.geometry.k1)
    drawn = [randomness.randint(0, plan.fixed_point.top) for _ in range(plan.geometry.padded_d)]
    return np.array(drawn, dtype=plan.fixed_point.dtype).reshape(shape)


@dataclass(frozen=True)
class Message:
    """One kind of message: its layout, an example in bytes, and both directions."""

    layout: Body
    body: bytes
    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes]

    @property
    def header_text(self) -> bytes:
        return self.layout.header[8:]

    @property
    def data(self) -> bytes:
        return self.body[len(self.layout.header) :]

    def with_header(self, text: bytes) -> bytes:
        """The example's data under another header, its length prefix matching."""
        return len(text).to_bytes(8, "little") + text + self.data


@cache
def update_message() -> Message:
    public_key = key_of(KEY_BITS).public_key
    return Message(
        update_body(PLAN),
        update_body(PLAN).encode(random_update(PLAN, seed=1)),
        lambda body: checked(body, PLAN, public_key),
        update_body(PLAN).encode,
    )


@cache
def aggregate_message() -> Message:
    half = half_of(PLAN, key_of(KEY_BITS).public_key)
    return Message(
        aggregate_body(PLAN),
        encode_aggregate(random_aggregate(PLAN, seed=1), PLAN),
        lambda body: decode_aggregate(body, PLAN, half),
        lambda total: encode_aggregate(total, PLAN),
    )
