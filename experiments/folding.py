"""Folding the light setting's 15 updates together against one by one (ADR 9).

Run it with `.venv/bin/python -m experiments.folding`.
"""

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from fedperm.planner import Plan, plan
from fedperm.randomness import from_operating_system
from fedperm.schemes.scheme import MaskedValues
from fedperm.workers import worker_processes
from fedperm_cli.bench.federation import Federation, material_of
from fedperm_cli.bench.measurement import Clock, Instruments
from fedperm_cli.bench.settings import ValueKind
from fedperm_cli.progress import Silent
from fedperm_secret.schemes.registry import SECRET_SCHEMES
from fedperm_secret.schemes.scheme import SecretKey

CLIENTS, TURNS = 15, 5
RANDOMNESS = from_operating_system()


def stored_updates(light: Plan, key: SecretKey, folder: Path) -> list[MaskedValues]:
    instruments = Instruments(Clock(), RANDOMNESS, Silent())
    federation = Federation(light, material_of(key, light), folder, instruments)
    return [
        federation.upload(str(number), federation.draw_values(ValueKind.RANDOM)).update
        for number in range(CLIENTS)
    ]


def main() -> None:
    light = plan(d=7850, k1=400, k2=1, clients=CLIENTS, value_bits=11)
    key = SECRET_SCHEMES[light.scheme.name].generate(light.scheme, RANDOMNESS)
    fold = light.scheme.public_half(key.public_key, light.layout).fold
    with TemporaryDirectory() as folder, worker_processes(1) as workers:
        updates = stored_updates(light, key, Path(folder))
        ratios = []
        for _ in range(TURNS):
            together = fold(updates, workers)[1].cpu_seconds
            apart = sum(fold([update], workers)[1].cpu_seconds for update in updates)
            ratios.append(apart / together)
            print(f"together {together:5.2f} s CPU, one by one {apart:5.2f} s")
    print(f"one by one costs {median(ratios):.2f} times as much (median of {TURNS})")


if __name__ == "__main__":
    main()
