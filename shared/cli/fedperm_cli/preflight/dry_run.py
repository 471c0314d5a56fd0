"""A whole round in miniature, in this process: shuffled, encrypted, folded, decrypted, exact."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

from fedperm.errors import AggregateError
from fedperm.planner import plan
from fedperm.schemes.scheme import Scheme
from fedperm.workers import Workers
from fedperm_cli.bench.federation import Federation, material_of
from fedperm_cli.bench.measurement import Clock, Instruments
from fedperm_cli.bench.settings import ValueKind
from fedperm_cli.progress import Silent
from fedperm_secret.schemes.registry import SECRET_SCHEMES

_CLIENTS = 2


def dry_round(scheme: Scheme, randomness: Random) -> str:
    """On the way that real updates take, with a key that protects nothing."""
    small = plan(d=50, k1=20, k2=2, clients=_CLIENTS, scheme=scheme, value_bits=8)
    key = SECRET_SCHEMES[scheme.name].measuring_key(scheme, randomness)
    instruments = Instruments(Clock(), randomness, Silent())
    with TemporaryDirectory(prefix="fedperm-preflight-") as folder, ThreadPoolExecutor(1) as thread:
        federation = Federation(small, material_of(key, small), Path(folder), instruments)
        workers = Workers(thread, 1)
        values = [federation.draw_values(ValueKind.RANDOM) for _ in range(_CLIENTS)]
        uploads = [federation.upload(str(i), coded) for i, coded in enumerate(values)]
        published, _ = federation.rerandomise(federation.fold(uploads, workers).total, workers)
    expected = np.sum([coded.astype(np.int64) for coded in values], axis=0)
    if not np.array_equal(federation.decrypt(published), expected):
        raise AggregateError(
            "the decrypted sum of a dry round is not the sum",
            "the installation is broken: reinstall gmpy2 and numpy (make clean setup)",
        )
    return f"{_CLIENTS} updates under a key of {scheme.key_bits} bits, folded and decrypted exactly"
