"""The sweep and its four pictures, on a grid small enough for a test."""

from pathlib import Path
from random import Random

import pytest

from fedperm.windows import Geometry
from fedperm_cli.bench.experiment import PreparedKey
from fedperm_cli.bench.federation import material_of
from fedperm_cli.bench.illustration import NUMBERS, draw_from, illustrate
from fedperm_cli.bench.measurement import Clock, Instruments
from fedperm_cli.bench.settings import Settings, ValueKind
from fedperm_cli.bench.sweep import Axis, Grid, Sweep, sweep_from_json
from fedperm_cli.progress import Silent
from fedperm_secret.schemes.paillier.keys import SecretKey

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
SMALL_GRID = Grid(k1=(4, 8), k2=(1, 2), d=(50, 500), clients=(1, 2))
PICTURES = {f"time-against-{axis}.png" for axis in ("k1", "k2", "d", "n")}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory, small_key: SecretKey) -> Path:
    """A directory into which a small sweep was drawn."""
    path = tmp_path_factory.mktemp("figures")
    settings = Settings(
        geometry=Geometry(d=100, k1=8, k2=1),
        clients=2,
        key_bits=512,
        laplace_scale=50.95,
        value_bits=None,
        processes=1,
        values=ValueKind.RANDOM,
        insecure_test_key=True,
    )
    material = material_of(small_key, settings.plan())
    instruments = Instruments(Clock(), Random(5), Silent())
    assert illustrate(settings, PreparedKey(material, 0.0), instruments, path, SMALL_GRID)
    return path


@pytest.fixture
def sweep(directory: Path) -> Sweep:
    return sweep_from_json((directory / NUMBERS).read_text())


def test_every_picture_is_a_png(directory: Path) -> None:
    assert {path.name for path in directory.glob("*.png")} == PICTURES
    for path in directory.glob("*.png"):
        assert path.read_bytes().startswith(PNG_SIGNATURE)


def test_the_numbers_lie_beside_the_pictures(sweep: Sweep) -> None:
    assert sweep.exact
    assert {axis: [point.place.position for point in sweep.along(axis)] for axis in Axis} == {
        Axis.K1: [4, 8],
        Axis.K2: [1, 2],
        Axis.D: [50, 500],
        Axis.CLIENTS: [1, 2],
    }


def test_numbers_survive_the_file(sweep: Sweep) -> None:
    assert sweep_from_json(sweep.to_json()) == sweep


def test_pictures_can_be_drawn_again_from_the_numbers(directory: Path, tmp_path: Path) -> None:
    (tmp_path / NUMBERS).write_text((directory / NUMBERS).read_text())
    assert {path.name for path in draw_from(tmp_path)} == PICTURES
