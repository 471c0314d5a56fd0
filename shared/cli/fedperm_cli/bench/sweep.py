"""Time against k1, k2, d and n: the grid of the paper's four timing figures, measured here.

Each point is one round of the product's functions: encryption is the mean over clients (offline
and online), aggregation folds all clients, decryption is done once. CPU seconds throughout.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fedperm.windows import Geometry
from fedperm.workers import Workers, worker_processes
from fedperm_cli.bench.experiment import PreparedKey, mean_cost
from fedperm_cli.bench.federation import Federation, Upload
from fedperm_cli.bench.measurement import Instruments, timed
from fedperm_cli.bench.settings import Settings
from fedperm_cli.progress import Silent


class Axis(StrEnum):
    """What varies in a figure."""

    K1 = "k1"
    K2 = "k2"
    D = "d"
    CLIENTS = "n"


@dataclass(frozen=True)
class Place:
    """One configuration of the grid."""

    axis: Axis
    k1: int
    k2: int
    d: int
    clients: int

    @property
    def position(self) -> int:
        """Where it lies on its axis."""
        positions = {Axis.K1: self.k1, Axis.K2: self.k2, Axis.D: self.d, Axis.CLIENTS: self.clients}
        return positions[self.axis]


@dataclass(frozen=True)
class SweepPoint:
    place: Place
    value_bits: int
    encrypt_cpu_seconds: float
    aggregate_cpu_seconds: float
    decrypt_cpu_seconds: float
    exact: bool


@dataclass(frozen=True)
class Sweep:
    """What the figures are drawn from."""

    key_bits: int
    points: tuple[SweepPoint, ...]

    @property
    def exact(self) -> bool:
        return all(point.exact for point in self.points)

    def along(self, axis: Axis) -> list[SweepPoint]:
        return [point for point in self.points if point.place.axis is axis]

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1)


def sweep_from_json(text: str) -> Sweep:
    return sweep_of(json.loads(text))


def sweep_of(document: dict[str, Any]) -> Sweep:
    """From its parsed JSON."""
    points = (
        SweepPoint(**{**point, "place": _place(point["place"])}) for point in document["points"]
    )
    return Sweep(document["key_bits"], tuple(points))


def _place(fields: dict[str, int | str]) -> Place:
    axis = Axis(str(fields["axis"]))
    return Place(axis, *(int(fields[name]) for name in ("k1", "k2", "d", "clients")))


@dataclass(frozen=True)
class Grid:
    """The values along each axis; the other three stay at the paper's k1 = 100, k2 = 1, d = 7850
    and n = 5. Only 2 clients take part along d: a million parameters take long enough."""

    k1: tuple[int, ...] = (50, 100, 200, 400, 800)
    k2: tuple[int, ...] = (1, 2, 5, 10, 20, 50)
    d: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    clients: tuple[int, ...] = (1, 2, 5, 10, 20, 50)
    clients_along_d: int = 2

    def places(self) -> Iterator[Place]:
        base = Place(Axis.K1, k1=100, k2=1, d=7850, clients=5)
        for k1 in self.k1:
            yield replace(base, k1=k1)
        for k2 in self.k2:
            yield replace(base, axis=Axis.K2, k2=k2)
        for d in self.d:
            yield replace(base, axis=Axis.D, d=d, clients=self.clients_along_d)
        for clients in self.clients:
            yield replace(base, axis=Axis.CLIENTS, clients=clients)


def run_sweep(
    grid: Grid, settings: Settings, prepared: PreparedKey, instruments: Instruments
) -> Sweep:
    """Every place of the grid, under the key, noise scale and value bits of the settings."""
    places = list(grid.places())
    instruments.steps.begin("Sweeping k1, k2, d and n", len(places))
    points = []
    with worker_processes(settings.processes) as workers:
        for place in places:
            points.append(_measure(place, settings, prepared, instruments, workers))
            instruments.steps.advance()
    return Sweep(settings.key_bits, tuple(points))


def _measure(
    place: Place,
    settings: Settings,
    prepared: PreparedKey,
    instruments: Instruments,
    workers: Workers,
) -> SweepPoint:
    geometry = Geometry(d=place.d, k1=place.k1, k2=place.k2)
    plan = replace(settings, geometry=geometry, clients=place.clients).plan()
    quiet = replace(instruments, steps=Silent())
    with TemporaryDirectory(prefix="fedperm-sweep-") as directory:
        federation = Federation(plan, prepared.material, Path(directory), quiet)
        expected = np.zeros((geometry.windows, geometry.k1), np.int64)
        uploads: list[Upload] = []
        for client in range(place.clients):
            coded = federation.draw_values(settings.values)
            expected += coded
            uploads.append(federation.upload(str(client), coded))
        fold = federation.fold(uploads, workers)
    decrypted = timed(instruments.clock, lambda: federation.decrypt(fold.total))
    client_cost = mean_cost([upload.cost for upload in uploads])
    return SweepPoint(
        place=place,
        value_bits=plan.fixed_point.value_bits,
        encrypt_cpu_seconds=client_cost.offline + client_cost.online,
        aggregate_cpu_seconds=fold.work.cpu_seconds,
        decrypt_cpu_seconds=decrypted.cpu_seconds,
        exact=bool(np.array_equal(decrypted.result, expected)),
    )
