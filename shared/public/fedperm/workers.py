"""Workers: processes, since big-integer arithmetic holds the interpreter lock, so threads do not
help; or whatever else is behind an executor."""

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Workers:
    """An executor, how many jobs it runs at once, and what it raises when the worker of a job was
    lost: killed, out of memory, cut off. That says nothing about the job, which can be done again.

    A BrokenExecutor means that the executor must be replaced too. Others, such as Dask's
    KilledWorker, mean that the executor goes on with other workers."""

    executor: Executor
    count: int
    lost: tuple[type[Exception], ...] = (BrokenExecutor,)

    def run(
        self, task: Callable[[Job], Result], jobs: Iterable[Job]
    ) -> Iterator[tuple[Job, Result]]:
        """Results as they come. Jobs are made and submitted a few at a time, so that their data
        do not pile up; when one fails, those that wait are cancelled."""
        waiting: dict[Future[Result], Job] = {}
        try:
            for job in jobs:
                waiting[self.executor.submit(task, job)] = job
                if len(waiting) >= 2 * self.count:
                    yield from _finished(waiting)
            while waiting:
                yield from _finished(waiting)
        finally:
            for future in waiting:
                future.cancel()


def _finished(waiting: dict[Future[Result], Job]) -> Iterator[tuple[Job, Result]]:
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    for future in done:
        yield waiting.pop(future), future.result()


@contextmanager
def worker_processes(count: int | None = None) -> Iterator[Workers]:
    """One process per core by default; started fresh, so that no lock or secret is inherited."""
    count = count or os.cpu_count() or 1
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context) as executor:
        yield Workers(executor, count)
