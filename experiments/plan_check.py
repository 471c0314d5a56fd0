"""`fedperm plan` against measurements: the product's own round, for three configurations.

    python -m experiments.plan_check            about two minutes; exit code 1 if it misses

Ciphertexts and bytes must be those of the round to the last one, CPU seconds within a factor of two
for every phase. One machine at one time: a busy one may miss.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from fedperm.randomness import from_operating_system
from fedperm.schemes.registry import DEFAULT_KEY_BITS
from fedperm.windows import Geometry
from fedperm_cli.bench.experiment import Measurements, PreparedKey, prepare_key, run
from fedperm_cli.bench.measurement import Clock, Instruments
from fedperm_cli.bench.settings import Settings, ValueKind
from fedperm_cli.plan.forecast import Forecast, forecast
from fedperm_cli.plan.speed import measure_speed
from fedperm_cli.progress import Silent

MOST_BYTES_OFF, MOST_TIMES_OFF = 0.30, 2.0

LIGHT = Settings(
    geometry=Geometry(d=7850, k1=400, k2=1),
    clients=15,
    key_bits=DEFAULT_KEY_BITS,
    laplace_scale=11.36,
    value_bits=None,
    processes=1,
    values=ValueKind.RANDOM,
    insecure_test_key=False,
)
CONFIGURATIONS = (
    LIGHT,
    replace(LIGHT, geometry=Geometry(d=7850, k1=200, k2=3), clients=5, laplace_scale=16.08),
    replace(LIGHT, geometry=Geometry(d=650, k1=130, k2=5), clients=5, laplace_scale=1.725),
)


@dataclass(frozen=True)
class Comparison:
    what: str
    planned: float
    measured: float
    most_off: float
    """Largest ratio, either way."""

    @property
    def ratio(self) -> float:
        return self.planned / self.measured

    @property
    def holds(self) -> bool:
        return max(self.ratio, 1 / self.ratio) <= self.most_off


def main() -> int:
    instruments = Instruments(Clock(), from_operating_system(), Silent())
    prepared = prepare_key(LIGHT, instruments)
    failed = 0
    for settings in CONFIGURATIONS:
        comparisons = list(_compare(settings, prepared, instruments))
        _print(settings, comparisons)
        failed += sum(not comparison.holds for comparison in comparisons)
    print(f"\n{failed} comparisons out of bounds")
    return 1 if failed else 0


def _compare(
    settings: Settings, prepared: PreparedKey, instruments: Instruments
) -> Iterator[Comparison]:
    """The self-benchmark uses a key of its own, as it does before a run."""
    speed = measure_speed(settings.scheme, instruments)
    measured = run(settings, prepared, instruments)
    planned = forecast(settings.plan(), speed, settings.processes)
    counts, sizes = planned.counts, planned.bytes
    made = int(np.prod(measured.fold.total.arrays["ciphertexts"].shape[:-1]))
    yield Comparison("ciphertexts published", counts.aggregator_publishes, made, 1.0)
    masks = _mask_ciphertexts(measured)
    yield Comparison("ciphertexts of a client", counts.client_encrypts, masks, 1.0)
    yield Comparison("bytes up", sizes.upload, measured.upload_bytes, 1 + MOST_BYTES_OFF)
    yield Comparison("bytes down", sizes.download, measured.download_bytes, 1 + MOST_BYTES_OFF)
    yield from _seconds(planned, measured, settings)


def _mask_ciphertexts(measured: Measurements) -> int:
    """From the length of what was uploaded: all but values and a header are masks."""
    plan = measured.plan
    values = plan.geometry.padded_d * plan.fixed_point.dtype.itemsize
    return (measured.upload_bytes - values) // (plan.scheme.key_bits // 4)


def _seconds(planned: Forecast, measured: Measurements, settings: Settings) -> Iterator[Comparison]:
    seconds = planned.seconds
    for what, predicted, taken in (
        ("tables", seconds.client_tables_once, measured.table_cpu_seconds),
        ("encrypt, ahead", seconds.client_encrypt_ahead, measured.client.offline),
        ("encrypt, in the round", seconds.client_encrypt, measured.client.online),
        ("check", seconds.aggregator_validate, measured.client.validate * settings.clients),
        ("fold", seconds.aggregator_fold, measured.fold.work.cpu_seconds),
        ("re-randomise", seconds.aggregator_rerandomise, measured.rerandomise_cpu_seconds),
        ("decrypt", seconds.client_decrypt, measured.decrypt_cpu_seconds),
    ):
        yield Comparison(f"CPU seconds: {what}", predicted, taken, MOST_TIMES_OFF)


def _print(settings: Settings, comparisons: list[Comparison]) -> None:
    geometry = settings.geometry
    print(f"\nd = {geometry.d}, k1 = {geometry.k1}, k2 = {geometry.k2}, {settings.clients} clients")
    print(f"{'':36}{'planned':>12}{'measured':>12}{'ratio':>8}")
    for one in comparisons:
        verdict = "" if one.holds else "  OUT OF BOUNDS"
        print(f"{one.what:36}{one.planned:12,.5g}{one.measured:12,.5g}{one.ratio:8.3f}{verdict}")


if __name__ == "__main__":
    sys.exit(main())
