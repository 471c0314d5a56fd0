"""A whole round in one process, through the public interfaces only."""

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm.aggregation import BoundedUpdate, EncryptedSum, fold
from fedperm.averaging import unpack_sum
from fedperm.blinding import BlindingPool, BlindingSource
from fedperm.blobs.store import BlobRef
from fedperm.errors import FedPermError
from fedperm.fold_job import StoredMasks
from fedperm.masks import MaskEncoder
from fedperm.paillier import PublicKey
from fedperm.permutation import draw_patterns
from fedperm.planner import Plan
from fedperm.update import build_update
from fedperm.wire.digest import sha256_of
from fedperm.wire.update import decode_update, encode_update, update_body
from fedperm.workers import Workers
from fedperm_secret.decryption import Decryptor
from fedperm_secret.fixed_base import SecretBlinding
from fedperm_secret.keys import SecretKey


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
) -> BoundedUpdate:
    """A client's update, sent as bytes, stored and validated as the aggregator does."""
    key = source.public_key
    patterns = draw_patterns(plan.geometry, randomness)
    encoder = MaskEncoder(key, plan)
    pool = BlindingPool(source, randomness)
    update = build_update(coded, patterns, plan.geometry, encoder, pool)
    path.write_bytes(encode_update(update, plan, key))
    return stored_update(path, plan, key)


def stored_update(path: Path, plan: Plan, key: PublicKey) -> BoundedUpdate:
    body = path.read_bytes()
    update = decode_update(body, plan, key)
    upload = BlobRef(path.as_uri(), sha256_of(body), len(body))
    masks = StoredMasks(upload, update_body(plan, key).offset_of("masks"))
    return BoundedUpdate(masks, update.values)


def decrypted_sum(total: EncryptedSum, plan: Plan, key: SecretKey) -> NDArray[np.int64]:
    return unpack_sum(Decryptor(key).decrypt_sum(total), total.contributors, plan)


def federate(
    clients: Sequence[NDArray[Any]], plan: Plan, key: SecretKey, folder: Path, randomness: Random
) -> NDArray[np.int64]:
    """The decrypted integer sum of all clients' coded values."""
    source = SecretBlinding(key)
    updates = [
        upload(coded, plan, source, folder / f"{u}.safetensors", randomness)
        for u, coded in enumerate(clients)
    ]
    total, _ = fold(updates, plan, key.public_key, IN_THIS_PROCESS)
    return decrypted_sum(total, plan, key)
