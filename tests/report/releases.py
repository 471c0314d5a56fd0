"""Runs of the paper's size, for the report's tests."""

from fedperm.noise.law import GridLaplace
from fedperm.noise.table_sampler import TableSampler
from fedperm.privacy.accountant import Accountant
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.record_level import LocalTraining
from fedperm.privacy.registry import NO_SHUFFLE
from fedperm.privacy.release import Release
from fedperm.windows import Geometry

LIGHT, HEAVY = Geometry(7850, 400, 1), Geometry(7850, 800, 10)
ONE_STEP = LocalTraining(learning_rate=3, clip=0.01, records=2000, clip_norm=2)


def release(
    *,
    geometry: Geometry = LIGHT,
    scale: float = 20.0,
    rounds: int = 50,
    delta: float = 1e-5,
    accountant: Accountant = NO_SHUFFLE,
    training: LocalTraining | None = ONE_STEP,
) -> Release:
    noise = TableSampler(GridLaplace(scale, grid=256, reach=0.5 + 8 * scale))
    event = ShuffledLaplace(geometry, scale)
    return Release(Rounds(event, rounds), delta, accountant, noise, training)
