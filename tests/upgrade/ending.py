"""What can be known of the upgraded deployment after it has finished its runs."""

import tarfile
from dataclasses import dataclass
from pathlib import Path

from fedperm.privacy.ledger import read_lines
from fedperm.wire.aggregator import RoundReport
from fedperm.wire.digest import sha256_of
from fedperm_cli.audit.log import VerifiedLog
from fedperm_client.summary import Summary

ARCHIVE = Path(__file__).with_name("deployment.tar.gz")
OLD_CLIENTS = ("ada", "bo", "cleo", "dan")
OF_SEALED = ("ada", "bo")
NEWCOMER = "eve"
NEW_EPOCH = 3
"""Made after the upgrade, and used from the third round on."""


def unpack(folder: Path) -> None:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")


@dataclass(frozen=True)
class Ending:
    """`uploads`: digests of all that clients of `demo` have sent since, by client and round;
    `refusal`: why a newcomer did not join it."""

    folder: Path
    demo: tuple[RoundReport, ...]
    demo_summaries: dict[str, Summary]
    sealed: tuple[RoundReport, ...]
    sealed_summaries: dict[str, Summary]
    uploads: dict[tuple[str, int], set[str]]
    audit: VerifiedLog
    refusal: str


@dataclass(frozen=True)
class ClientState:
    """One client's state directory, before or after."""

    path: Path

    @property
    def charges(self) -> list[tuple[str, int, str]]:
        """Run, round and digest, in the ledger's order."""
        _, *lines = read_lines(self.path / "privacy-ledger.jsonl")
        return [(line["run"], line["round"], line["digest"]) for line in lines]

    @property
    def prepared(self) -> str:
        """The digest of the only update of `demo` in the old outbox."""
        (update,) = self.path.glob("runs/demo/outbox/*")
        return sha256_of(update.read_bytes())
