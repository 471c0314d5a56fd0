"""Folding the light setting's 15 updates together against one by one (ADR 9).

Run it with `.venv/bin/python -m experiments.folding`.
"""

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from fedperm.aggregation import BoundedUpdate, fold
from fedperm.blinding import BlindingPool
from fedperm.blobs.files import FileBlobStore
from fedperm.fold_job import StoredMasks
from fedperm.masks import MaskEncoder
from fedperm.permutation import draw_patterns
from fedperm.planner import Plan, plan
from fedperm.randomness import from_operating_system
from fedperm.update import build_update
from fedperm.wire.update import encode_update, update_body
from fedperm.workers import worker_processes
from fedperm_secret.fixed_base import SecretBlinding
from fedperm_secret.keys import SecretKey, generate_key

CLIENTS, TURNS = 15, 5
RANDOMNESS = from_operating_system()


def stored_updates(light: Plan, key: SecretKey, folder: Path) -> list[BoundedUpdate]:
    public = key.public_key
    encoder, pool = MaskEncoder(public, light), BlindingPool(SecretBlinding(key), RANDOMNESS)
    offset, updates = update_body(light, public).offset_of("masks"), []
    store = FileBlobStore(folder)
    shape = (light.geometry.windows, light.geometry.k1)
    for number in range(CLIENTS):
        values = np.random.default_rng(number).integers(0, light.fixed_point.top + 1, shape)
        patterns = draw_patterns(light.geometry, RANDOMNESS)
        coded = values.astype(light.fixed_point.dtype)
        update = build_update(coded, patterns, light.geometry, encoder, pool)
        upload = store.write(f"{number}.safetensors", encode_update(update, light, public))
        updates.append(BoundedUpdate(StoredMasks(upload, offset), update.values))
    return updates


def main() -> None:
    light = plan(d=7850, k1=400, k2=1, clients=CLIENTS, value_bits=11)
    key = generate_key(RANDOMNESS)
    with TemporaryDirectory() as folder, worker_processes(1) as workers:
        updates = stored_updates(light, key, Path(folder))
        ratios = []
        for _ in range(TURNS):
            together = fold(updates, light, key.public_key, workers)[1].cpu_seconds
            apart = sum(
                fold([update], light, key.public_key, workers)[1].cpu_seconds for update in updates
            )
            ratios.append(apart / together)
            print(f"together {together:5.2f} s CPU, one by one {apart:5.2f} s")
    print(f"one by one costs {median(ratios):.2f} times as much (median of {TURNS})")


if __name__ == "__main__":
    main()
