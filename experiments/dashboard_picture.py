"""The picture of what the aggregator can see, for the dashboard: a made-up update, made once.

    .venv/bin/python -m experiments.dashboard_picture

writes `demonstration.json` among the dashboard's files. The same code shuffles, adds noise and
encrypts as in a client; the aggregator itself has none of it. Everything is drawn from a seed, and
the key is one that protects nothing, so that the file is the same every time (a test compares it).
"""

import base64
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm.fixed_point import FixedPoint
from fedperm.noise.law import FINE_GRID, GridLaplace, NoiseSampler
from fedperm.noise.table_sampler import TableSampler
from fedperm.normalisation import CENTRE
from fedperm.permutation import draw_patterns, shuffle
from fedperm.planner import NOISE_TAIL
from fedperm.randomizer import Randomizer
from fedperm.schemes.registry import DEFAULT_SCHEME
from fedperm.windows import Geometry
from fedperm_secret.schemes.registry import SECRET_SCHEMES

FILE = Path(__file__).parents[1] / "shared/public/fedperm/dashboard/static/demonstration.json"
SIDE = 32
GEOMETRY = Geometry(SIDE * SIDE, SIDE, 4)
"""A picture of 32 windows with 32 parameters each, shuffled by four patterns."""
LAPLACE_SCALE = 1.725
"""About the noise of `make demo`."""


def demonstration() -> dict[str, Any]:
    """Octets in base64, row by row. `mask` is the secret permutation of the first pattern,
    `ciphertexts` its encrypted masks, `ciphertext_octets` each."""
    patterns = draw_patterns(GEOMETRY, _seeded())
    plain = _coded(None)
    reach = CENTRE + NOISE_TAIL * LAPLACE_SCALE
    noised = _coded(TableSampler(GridLaplace(LAPLACE_SCALE, FINE_GRID, reach)))
    secret_scheme = SECRET_SCHEMES[DEFAULT_SCHEME.name]
    key = secret_scheme.measuring_key(DEFAULT_SCHEME, _seeded())
    alone = DEFAULT_SCHEME.layout(Geometry(SIDE, SIDE, 1), value_bits=1, clients=1)
    encoder = secret_scheme.secret_half(key, alone).encoder(_seeded())
    masks = encoder.encode(patterns[:1])["masks"]
    return {
        "windows": GEOMETRY.windows,
        "k1": GEOMETRY.k1,
        "k2": GEOMETRY.k2,
        "laplace_scale": LAPLACE_SCALE,
        "key_bits": DEFAULT_SCHEME.key_bits,
        "plain": _text(plain),
        "shuffled": _text(shuffle(plain, patterns, GEOMETRY)),
        "noised": _text(noised),
        "noised_shuffled": _text(shuffle(noised, patterns, GEOMETRY)),
        "mask": patterns[0].tolist(),
        "ciphertexts": _text(masks),
        "ciphertext_octets": masks.shape[-1],
    }


def rings() -> NDArray[np.float64]:
    """Something that the eye knows again: rings around a point, between -1 and 1."""
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    distance = np.hypot(rows - 0.45 * SIDE, columns - 0.4 * SIDE)
    return np.asarray(np.cos(distance * 0.75), dtype=np.float64).ravel()


def _coded(noise: NoiseSampler | None) -> NDArray[Any]:
    """In 8 bits, for a picture."""
    reach = CENTRE if noise is None else noise.law.reach
    randomizer = Randomizer(1.0, GEOMETRY, FixedPoint(8, reach), noise)
    return randomizer.randomize(rings(), _seeded())


def _seeded() -> Random:
    return Random(SIDE)  # noqa: S311 (nobody is protected here)


def _text(octets: NDArray[Any]) -> str:
    return base64.b64encode(octets.astype(np.uint8).tobytes()).decode()


def main() -> None:
    FILE.write_text(json.dumps(demonstration(), indent=1) + "\n")


if __name__ == "__main__":
    main()
