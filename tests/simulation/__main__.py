"""python -m tests.simulation --seconds 600: sequences until the time is over, on all cores.

Every batch of sequences has a seed. What fails is run again by --seed N, which then also looks for
the shortest sequence that fails.
"""

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path

from tests.simulation.batches import Batch, run_batch
from tests.simulation.report import page, save
from tests.simulation.tally import Tally

OUTPUT = Path("out/simulation.json")


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    start = time.time()
    if given.seed is not None:
        batches = [run_batch(given.seed, deadline=float("inf"), shrink=True)]
    else:
        batches = _batches(start, start + given.seconds, given.processes)
    tally = Tally()
    for batch in batches:
        tally.add(batch.tally)
    failed = [batch for batch in batches if batch.failure]
    seconds = time.time() - start
    sys.stdout.write(f"\n{page(tally, seconds)}\n")
    save(OUTPUT, tally, seconds, [batch.seed for batch in failed])
    for batch in failed:
        command = f"python -m tests.simulation --seed {batch.seed}"
        sys.stdout.write(f"\n{batch.failure}\nfailed; run it again by: {command}\n")
    if not tally.sequences:
        sys.stdout.write("\nnothing was tried: give it more --seconds\n")
    return 1 if failed or not tally.sequences else 0


def _batches(start: float, deadline: float, processes: int) -> list[Batch]:
    """With seeds from the clock on, one process a core; no more of them after a failure."""
    seeds = iter(range(int(start), int(deadline) + 1_000_000))
    done: list[Batch] = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context) as pool:
        running: set[Future[Batch]] = set()
        while True:
            is_over = time.time() >= deadline or any(batch.failure for batch in done)
            while not is_over and len(running) < processes:
                running.add(pool.submit(run_batch, next(seeds), deadline))
            if not running:
                return done
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            done += [future.result() for future in finished]
            _tell(done, time.time() - start)


def _tell(done: list[Batch], seconds: float) -> None:
    operations = sum(batch.tally.operations for batch in done)
    rounds = sum(batch.tally.rounds.total() for batch in done)
    failed = sum(bool(batch.failure) for batch in done)
    sys.stdout.write(
        f"{seconds:5.0f} s  {operations:,} operations, {rounds:,} rounds, {failed} failures\n"
    )
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, help="one batch only")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser


if __name__ == "__main__":
    sys.exit(main())
