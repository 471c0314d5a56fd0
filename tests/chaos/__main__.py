"""`python -m tests.chaos --kills 50`: prints what it does, saves out/chaos.json.

Exit code 1 if anything was lost, counted twice or released twice, or if a process gave up. The
seed fixes who is killed and which faults are drawn, not when the processes get the processor.
"""

import argparse
import secrets
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from random import Random

from fedperm.wire.aggregator import RoundState
from tests.chaos.faults import Fault, Plan, RequestLine, by_chance
from tests.chaos.federation import TroubledFederation, troubled_federation
from tests.chaos.killer import GaveUpError, Killer, Party
from tests.chaos.report import Report
from tests.chaos.upload_witness import UploadWitness, slot_of
from tests.chaos.verdict import judge

CLIENTS = 4
FAULTY_SHARE = 0.08
FAULTY_UPLOADS = 0.4
"""What the promise is about has the worst of it."""
REST_SECONDS = 120.0
ROUNDS = {
    "count": 100_000,
    "clients_per_round": CLIENTS,
    "min_contributors": 2,
    "start_with": CLIENTS,
    "deadline_seconds": 4.0,
    "extension_seconds": 4.0,
    "extensions": 2,
    "give_up_after": 1000,
}
"""A round does not wait long for clients that are away, and the run goes on without end."""


class Weather:
    """Faults on every link, until it calms down."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.is_calm = False

    def on(self, link: str) -> Plan:
        randomness = Random(f"{self._seed} {link}")
        uploads, others = (by_chance(randomness, s) for s in (FAULTY_UPLOADS, FAULTY_SHARE))

        def fault(request: RequestLine) -> Fault | None:
            if self.is_calm:
                return None
            return others(request) if slot_of(request) is None else uploads(request)

        return fault


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32))
    parser.add_argument("--out", type=Path, default=Path("out/chaos.json"))
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fedperm-chaos-"))
    report = run(chosen.kills, chosen.seed, folder)
    report.write(chosen.out)
    for line in report.lines():
        _tell(line)
    if not report.is_clean:
        _tell(f"what the processes left is in {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


def run(kills: int, seed: int, folder: Path) -> Report:
    started_at = time.monotonic()
    witness, weather = UploadWitness(), Weather(seed)
    _tell(f"seed {seed}: {CLIENTS} clients, {kills} kills")
    with troubled_federation(folder, CLIENTS, witness, weather.on, ROUNDS) as federation:
        killer = Killer(
            federation,
            Random(seed),
            lambda: witness.requests,
            lambda party: _tell_kill(party, started_at),
        )
        gave_up = ""
        try:
            federation.wait_for_rounds(1)
            killer.kill(kills)
            weather.is_calm = True
            federation.come_to_rest(REST_SECONDS)
            killer.check()
        except (GaveUpError, AssertionError) as error:
            gave_up = str(error)
        return _report(federation, witness, killer, gave_up, seed, started_at)


def _report(
    federation: TroubledFederation,
    witness: UploadWitness,
    killer: Killer,
    gave_up: str,
    seed: int,
    started_at: float,
) -> Report:
    unjudged = Report(
        seed=seed,
        seconds=time.monotonic() - started_at,
        kills=dict(killer.kills),
        faults=dict(witness.faults),
        requests=witness.requests,
        uploads_acknowledged=len(witness.acknowledged),
        gave_up=gave_up,
    )
    return unjudged if gave_up else _judged(unjudged, federation)


def _judged(report: Report, federation: TroubledFederation) -> Report:
    """Only a federation that has come to rest: before, an upload may be neither in nor out."""
    rounds = federation.rounds()
    states = [outcome.state for outcome in rounds]
    return replace(
        report,
        rounds_published=states.count(RoundState.PUBLISHED),
        rounds_aborted=states.count(RoundState.ABORTED),
        verdict=judge(
            rounds, federation.client_states(), federation.seen(), federation.min_contributors
        ),
    )


def _tell_kill(party: Party, started_at: float) -> None:
    _tell(f"{time.monotonic() - started_at:6.1f} s  kill -9 {party}")


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
