"""The pool of worker processes: replaced when it breaks, gone when the aggregator is."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import Connection
from threading import Lock, Thread

from fedperm.workers import Workers

Start = Callable[[], Workers]


class WorkerPool:
    """`start` makes a new pool; tests hand in one that works in this process."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._lock = Lock()
        self._workers = start()

    @property
    def workers(self) -> Workers:
        return self._workers

    def replace(self, broken: Workers) -> None:
        """Once, however many jobs noticed that it broke."""
        with self._lock:
            if self._workers is broken:
                self._workers = self._start()
                broken.executor.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """What the processes are at is abandoned; it is done again after the next start."""
        self._workers.executor.shutdown(wait=True, cancel_futures=True)


def process_pool(count: int) -> WorkerPool:
    """Processes started fresh, so that they inherit neither locks nor sockets."""
    return WorkerPool(lambda: Workers(_Processes(count), count))


class _Processes(ProcessPoolExecutor):
    """Each process holds the reading end of a pipe whose writing end is only here. It ends when
    the pipe does: at `shutdown`, and also when this process is killed, after which idle workers
    would otherwise wait for ever."""

    def __init__(self, count: int) -> None:
        context = multiprocessing.get_context("spawn")
        reading_end, self._lifeline = context.Pipe(duplex=False)
        super().__init__(
            count, mp_context=context, initializer=_start_worker, initargs=(reading_end,)
        )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._lifeline.close()
        super().shutdown(wait, cancel_futures=cancel_futures)


def _start_worker(lifeline: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the aggregator to handle
    Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    lifeline.poll(None)
    os._exit(0)
