"""Where a client keeps itself between two starts."""

from dataclasses import dataclass
from pathlib import Path

from fedperm_client.errors import StateError

LAYOUT = 1
"""Of names and contents in a state directory. The first client that changes them leaves its number
in the file `layout`; until then there is no such file."""


@dataclass(frozen=True)
class RunDirectory:
    """What belongs to one run."""

    path: Path

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint.safetensors"

    @property
    def model(self) -> Path:
        """The final model, for others to read."""
        return self.path / "model.safetensors"

    @property
    def history(self) -> Path:
        return self.path / "rounds.jsonl"

    @property
    def outbox(self) -> Path:
        return self.path / "outbox"


@dataclass(frozen=True)
class StateDirectory:
    """What belongs to the client; it holds private keys and is closed to others."""

    path: Path

    @property
    def keys(self) -> Path:
        return self.path / "keys.json"

    @property
    def enrolled(self) -> Path:
        return self.path / "enrolled.json"

    @property
    def ledger(self) -> Path:
        return self.path / "privacy-ledger.jsonl"

    @property
    def newest_epoch(self) -> Path:
        return self.path / "newest-epoch.json"

    @property
    def summary(self) -> Path:
        return self.path / "summary.json"

    def check_layout(self) -> None:
        """A client that overlooked a prepared update would draw noise a second time."""
        path = self.path / "layout"
        if path.exists() and (found := path.read_text().strip()) != str(LAYOUT):
            raise StateError(
                f"{self.path} has layout {found}; this client knows layout {LAYOUT}",
                "start the client that wrote it, or a newer one",
            )

    def run(self, name: str) -> RunDirectory:
        directory = RunDirectory(self.path / "runs" / name)
        directory.outbox.mkdir(parents=True, exist_ok=True, mode=0o700)
        return directory
