"""The encrypted part of the results."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import JsonValue, TypeAdapter

from experiments.accuracy.setting import CLIENTS, DELTA, Recipe
from experiments.encrypted.experiment import run
from experiments.encrypted.figures import EncryptedResult
from experiments.encrypted.setting import Setting
from experiments.paper.records import ResultFile
from fedperm_cli.progress_lines import tell_nothing
from fedperm_cli.run.views import Silence

NAME = "light"
_ROUNDS, _QUICK_CLIENTS = 5, 3
_SECONDS_A_CLIENT = 12.0


@dataclass(frozen=True)
class EncryptedMeasurement:
    """All processes together have the machine to themselves."""

    clients: int
    rounds: int
    name: str = NAME
    part: str = "encrypted"
    alone: bool = True

    @property
    def settings(self) -> Mapping[str, JsonValue]:
        setting = self._setting(Path())
        return {
            "clients": self.clients,
            "rounds": self.rounds,
            "seed": setting.seed,
            "key_bits": setting.key_bits,
            "accountant": setting.accountant,
            "epsilon_of_50_rounds": setting.epsilon,
            "delta": DELTA,
            "alpha": setting.demo.alpha,
            "filter": setting.filter,
            "recipe": asdict(setting.recipe),
        }

    @property
    def expected_seconds(self) -> float:
        return _SECONDS_A_CLIENT * self.clients

    def run(self, data: Path) -> Mapping[str, JsonValue]:
        with TemporaryDirectory(prefix="fedperm-encrypted-") as folder:
            setting = self._setting(data)
            result = asyncio.run(run(setting, Path(folder, "all"), Silence(), tell_nothing))
        found: dict[str, JsonValue] = TypeAdapter(EncryptedResult).dump_python(result, mode="json")
        return found

    def _setting(self, data: Path) -> Setting:
        return Setting(self.clients, self.rounds, data)


def measurements(*, quick: bool) -> Sequence[EncryptedMeasurement]:
    return [EncryptedMeasurement(_QUICK_CLIENTS if quick else CLIENTS, 1 if quick else _ROUNDS)]


def result_in(results: ResultFile) -> EncryptedResult | None:
    """None before it was measured."""
    for record in results.records:
        if record.name == NAME:
            return TypeAdapter(EncryptedResult).validate_python(dict(record.result))
    return None


def recipe_in(results: ResultFile) -> Recipe:
    """By which the clients trained."""
    (record,) = [record for record in results.records if record.name == NAME]
    return TypeAdapter(Recipe).validate_python(record.settings["recipe"])
