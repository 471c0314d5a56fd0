"""Sequences by seed: a batch is the same whenever it is run."""

import logging
import time
import traceback
from dataclasses import dataclass

import torch
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.stateful import run_state_machine_as_test

from tests.simulation.machine import Simulation
from tests.simulation.tally import Tally

SEQUENCES = 10
OPERATIONS = 40
"""Of a sequence, before the faults end and the run must come to its end."""


@dataclass(frozen=True)
class Batch:
    """`failure` is empty if nothing was found."""

    seed: int
    tally: Tally
    failure: str = ""


def run_batch(
    number: int,
    deadline: float,
    *,
    sequences: int = SEQUENCES,
    operations: int = OPERATIONS,
    shrink: bool = False,
) -> Batch:
    """Begins no sequence after the deadline. Shrinking takes minutes, and shows what matters."""
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    tally = Tally()

    class Seeded(Simulation):
        pass

    Seeded.tally = tally
    Seeded.may_begin = lambda: bool(tally.failures) or time.time() < deadline
    try:
        chosen = _settings(sequences, operations, shrink)
        run_state_machine_as_test(seed(number)(Seeded), settings=chosen)
    except Unsatisfiable:  # no time was left for any
        pass
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        tally.failures["sequences"] += 1
        return Batch(number, tally, "".join(traceback.format_exception(error)))
    return Batch(number, tally)


def _settings(sequences: int, operations: int, shrink: bool) -> settings:
    return settings(
        max_examples=sequences,
        stateful_step_count=operations,
        phases=[Phase.generate, *([Phase.shrink] if shrink else [])],
        deadline=None,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
