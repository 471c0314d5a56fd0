"""What the results are made of. A part of the results is a package with a module `measured`:

    def measurements(*, quick: bool) -> Sequence[Measurement]: ...

Measurements are frozen dataclasses: they travel to another process, which runs them. A name is
measured once; what was measured already is not measured again when a stopped plan is taken up.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue


class Measurement(Protocol):
    @property
    def part(self) -> str:
        """The result file that it goes to: `accuracy` for results/accuracy.json."""

    @property
    def name(self) -> str:
        """Unlike any other of its part."""

    @property
    def settings(self) -> Mapping[str, JsonValue]:
        """All that it depends on, the seed included; no path of this machine."""

    @property
    def expected_seconds(self) -> float:
        """Roughly, on one core: for the estimate of the time left."""

    @property
    def alone(self) -> bool:
        """Whether nothing else may run beside it: it takes times, or all cores."""

    def run(self, data: Path) -> Mapping[str, JsonValue]:
        """`data` holds the folder mnist/. Torch has one thread."""
