"""A whole round in one process, through the public interfaces only."""

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

from fedperm.aggregate import EncryptedSum, check_sums
from fedperm.blobs.store import BlobRef
from fedperm.errors import FedPermError
from fedperm.norm_bound import NormBound
from fedperm.planner import Plan
from fedperm.schemes.paillier.blinding import BlindingPool, BlindingSource
from fedperm.schemes.paillier.masks import MaskEncoder
from fedperm.schemes.paillier.public_key import PublicKey, read_ciphertexts
from fedperm.schemes.scheme import Arrays, MaskedValues, PublicHalf, StoredUpload
from fedperm.uploads.form import UpdateTerms, examine
from fedperm.uploads.masks import MASKS
from fedperm.wire.digest import sha256_of
from fedperm.workers import Workers
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import SecretKey
from fedperm_secret.schemes.registry import SECRET_SCHEMES
from fedperm_secret.schemes.scheme import SecretHalf


class InlineExecutor(Executor):
    """Runs a job where it is submitted: `fold` without processes."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except FedPermError as error:
            future.set_exception(error)
        return future


IN_THIS_PROCESS = Workers(InlineExecutor(), 1)


def half_of(plan: Plan, key: PublicKey) -> PublicHalf:
    return plan.scheme.public_half(key, plan.layout)


def terms_of(plan: Plan, key: PublicKey, bound: NormBound | None = None) -> UpdateTerms:
    return UpdateTerms(MASKS, plan, bound, half_of(plan, key))


def secret_half_of(plan: Plan, key: SecretKey) -> SecretHalf:
    return SECRET_SCHEMES[plan.scheme.name].secret_half(key, plan.layout)


def checked(body: bytes | memoryview, plan: Plan, key: PublicKey) -> Arrays:
    """An upload as it is read and checked by the aggregator: views into the body."""
    terms = terms_of(plan, key)
    examine(memoryview(body), terms)
    return terms.body.decode(body)


def random_values(plan: Plan, randomness: Random) -> NDArray[Any]:
    """Uniform coded integers for every padded position."""
    count = plan.geometry.padded_d
    drawn = [randomness.randint(0, plan.fixed_point.top) for _ in range(count)]
    return as_windows(drawn, plan)


def as_windows(values: Sequence[int], plan: Plan) -> NDArray[Any]:
    shape = (plan.geometry.windows, plan.geometry.k1)
    return np.array(values, dtype=plan.fixed_point.dtype).reshape(shape)


def upload(
    coded: NDArray[Any], plan: Plan, source: BlindingSource, path: Path, randomness: Random
) -> MaskedValues:
    """A client's update, sent as bytes, stored and validated as the aggregator does."""
    terms = terms_of(plan, source.public_key)
    encoder = MaskEncoder(plan.layout, BlindingPool(source, randomness))
    path.write_bytes(terms.body.encode(MASKS.prepare(coded, plan, encoder, randomness)))
    return stored_update(path, plan, source.public_key)


def stored_update(path: Path, plan: Plan, key: PublicKey) -> MaskedValues:
    body = path.read_bytes()
    arrays = checked(body, plan, key)
    offset = terms_of(plan, key).body.offset_of("masks")
    upload = StoredUpload(BlobRef(path.as_uri(), sha256_of(body), len(body)), {"masks": offset})
    return MaskedValues(upload, arrays["values"])


def folded(updates: Sequence[MaskedValues], plan: Plan, key: PublicKey) -> EncryptedSum:
    arrays, _ = half_of(plan, key).fold(updates, IN_THIS_PROCESS)
    return EncryptedSum(arrays, len(updates))


def numbers(arrays: Arrays) -> list[list[mpz]]:
    """The ciphertexts of a sum, [window][group]."""
    table = arrays["ciphertexts"]
    return [list(read_ciphertexts(window)) for window in table]


def decrypted_sum(total: EncryptedSum, plan: Plan, key: SecretKey) -> NDArray[np.int64]:
    sums = secret_half_of(plan, key).decrypt(total.arrays)
    check_sums(sums, total.contributors, plan)
    return sums


def federate(
    clients: Sequence[NDArray[Any]], plan: Plan, key: SecretKey, folder: Path, randomness: Random
) -> NDArray[np.int64]:
    """The decrypted integer sum of all clients' coded values."""
    source = SecretBlinding(key)
    updates = [
        upload(coded, plan, source, folder / f"{u}.safetensors", randomness)
        for u, coded in enumerate(clients)
    ]
    return decrypted_sum(folded(updates, plan, key.public_key), plan, key)
