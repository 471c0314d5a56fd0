"""The timing part of the results: what `fedperm bench` prints."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import JsonValue

from experiments.accuracy.setting import VALUE_BITS
from fedperm.errors import ServiceError
from fedperm_cli.bench.illustration import NUMBERS
from fedperm_cli.federation.process_reaper import ProcessReaper
from fedperm_cli.presets import Preset

_EXPECTED_SECONDS = {Preset.LIGHT: 60.0, Preset.HEAVY: 480.0}
_SWEEP_SECONDS = 240.0


@dataclass(frozen=True)
class TimingMeasurement:
    """One run of the command; the light one also takes the sweep of the four figures."""

    preset: Preset
    sweeps: bool
    part: str = "timing"
    alone: bool = True

    @property
    def name(self) -> str:
        return self.preset.value

    @property
    def settings(self) -> Mapping[str, JsonValue]:
        return {"command": " ".join(["fedperm", *self._arguments()]), "sweeps": self.sweeps}

    @property
    def expected_seconds(self) -> float:
        return _EXPECTED_SECONDS[self.preset] + (_SWEEP_SECONDS if self.sweeps else 0.0)

    def run(self, data: Path) -> Mapping[str, JsonValue]:
        del data
        with TemporaryDirectory(prefix="fedperm-timing-") as folder:
            figures = ["--figures", folder] if self.sweeps else []
            report = _fedperm([*self._arguments(), *figures])
            if not self.sweeps:
                return {"report": report}
            return {"report": report, "sweep": json.loads(Path(folder, NUMBERS).read_text())}

    def _arguments(self) -> list[str]:
        return ["bench", "--preset", self.preset, "--value-bits", str(VALUE_BITS), "--json"]


def _fedperm(arguments: list[str]) -> JsonValue:
    """A process of its own: measuring starts workers, which one of a pool may not. It ends with
    whoever waits for it, however that ends."""
    reaper = ProcessReaper()
    with subprocess.Popen(  # noqa: S603 (a module of ours)
        [sys.executable, "-m", "fedperm_cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        reaper.watch(process.pid)
        printed, said = process.communicate()
    reaper.dismiss()
    if process.returncode:
        raise ServiceError(f"fedperm {' '.join(arguments)} failed: {said}", "see what it says")
    report: JsonValue = json.loads(printed)
    return report


def measurements(*, quick: bool) -> Sequence[TimingMeasurement]:
    light = TimingMeasurement(Preset.LIGHT, sweeps=not quick)
    return [light] if quick else [light, TimingMeasurement(Preset.HEAVY, sweeps=False)]
