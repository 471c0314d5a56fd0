"""Prepared uploads: on disk before they are charged and sent, until their round is settled.

A lost answer or a crash makes the client send the same bytes again. Fresh noise for the same
round would be a second release. What undoes the shuffle (patterns, blinding factors) is not kept.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from fedperm.crash_points import persisting
from fedperm.durable_file import TEMPORARY_SUFFIX, publish, write_durably

_NAME = re.compile(r"round-(\d+)-epoch-(\d+)\.(prepared|acknowledged)")


@dataclass(frozen=True)
class PreparedUpload:
    """An upload on disk; its name says all that is known of it."""

    path: Path
    round: int
    epoch: int
    acknowledged: bool

    def read(self) -> bytes:
        return self.path.read_bytes()


class Outbox:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for torn in folder.glob(f"*{TEMPORARY_SUFFIX}"):
            torn.unlink()

    @persisting
    def put(self, number: int, epoch: int, body: bytes) -> PreparedUpload:
        """Durable before it returns."""
        path = self._folder / f"round-{number}-epoch-{epoch}.prepared"
        write_durably(path, body)
        return PreparedUpload(path, number, epoch, acknowledged=False)

    def find(self, number: int) -> PreparedUpload | None:
        return next((upload for upload in self._all() if upload.round == number), None)

    @persisting
    def acknowledge(self, upload: PreparedUpload) -> PreparedUpload:
        """The aggregator has it: from here on the round's outcome must account for it."""
        path = upload.path.with_suffix(".acknowledged")
        publish(upload.path, path)
        return PreparedUpload(path, upload.round, upload.epoch, acknowledged=True)

    @persisting
    def discard(self, upload: PreparedUpload) -> None:
        """Nothing of it was charged or sent."""
        upload.path.unlink()

    @persisting
    def clear(self, settled: int) -> None:
        """Removes what belongs to settled rounds."""
        for upload in self._all():
            if upload.round <= settled:
                upload.path.unlink()

    def _all(self) -> list[PreparedUpload]:
        named = [(path, _NAME.fullmatch(path.name)) for path in self._folder.iterdir()]
        return [
            PreparedUpload(path, int(name[1]), int(name[2]), name[3] == "acknowledged")
            for path, name in named
            if name is not None
        ]
