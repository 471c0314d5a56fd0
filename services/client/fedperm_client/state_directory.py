"""Where a client keeps itself between two starts, and the version of how it does.

Layouts: 1 is without a file `layout`, and its outbox has updates only. 2 has that file, and names
the kind of each submission in the outbox. What is in a directory of an older layout is read as it
is. The number goes up when an older client would misread or miss something.
"""

from dataclasses import dataclass
from pathlib import Path

from fedperm.crash_points import persisting
from fedperm.durable_file import write_durably
from fedperm.ids import RunName
from fedperm_client.errors import StateError

LAYOUT = 2


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
    def layout(self) -> Path:
        return self.path / "layout"

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
    def audit_witness(self) -> Path:
        """For others to read: nothing in it is secret."""
        return self.path / "audit-witness.json"

    @property
    def summary(self) -> Path:
        return self.path / "summary.json"

    def open(self) -> None:
        """Before anything in it is read or written: what a newer client has left is refused."""
        try:
            found = int(self.layout.read_text()) if self.layout.exists() else 1
        except ValueError:
            raise StateError(
                f"{self.layout} is damaged", "restore the state directory from a backup"
            ) from None
        if found > LAYOUT:
            raise StateError(
                f"{self.path} has layout {found}, and this client knows layouts up to {LAYOUT}",
                "upgrade this client to the version that used the directory last",
            )
        if found < LAYOUT:
            self.mark_layout()

    @persisting
    def mark_layout(self) -> None:
        write_durably(self.layout, f"{LAYOUT}\n".encode())

    def run(self, name: RunName) -> RunDirectory:
        directory = RunDirectory(self.path / "runs" / name)
        directory.outbox.mkdir(parents=True, exist_ok=True, mode=0o700)
        return directory
