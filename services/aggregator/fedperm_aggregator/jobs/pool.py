"""Workers for jobs, chosen by a URL: replaced when their executor breaks, gone when the aggregator
is. `process://` are processes on this machine."""

import logging
import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from threading import Event, Lock, Thread
from typing import Any, ParamSpec, TypeVar

from fedperm.registry import UrlRegistry
from fedperm.workers import Workers

log = logging.getLogger(__name__)

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Start = Callable[[], Workers]

LOOKS = 10
"""A piece of work that is the oldest one at so many looks in a row is stuck."""

NICENESS = 10
"""Worker processes take what the aggregator itself leaves over: it answers hundreds of clients."""


@dataclass(frozen=True)
class WorkerSpec:
    """`silence_seconds`: a worker that has run one piece of work this long is stuck."""

    url: str
    count: int
    silence_seconds: float


class WorkerPool:
    """`start` makes new workers; tests hand in some that work in this process."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._lock = Lock()
        self._workers = start()

    @property
    def workers(self) -> Workers:
        return self._workers

    def replace(self, broken: Workers) -> None:
        """Once, however many jobs noticed that its executor broke."""
        with self._lock:
            if self._workers is broken:
                self._workers = self._start()
                broken.executor.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """What the processes are at is abandoned; it is done again after the next start."""
        self._workers.executor.shutdown(wait=True, cancel_futures=True)


def start_processes(spec: WorkerSpec) -> Workers:
    """Started fresh, so that they inherit neither locks nor sockets."""
    return Workers(_Processes(spec.count, spec.silence_seconds), spec.count)


EXECUTORS: UrlRegistry[Callable[[WorkerSpec], Workers]] = UrlRegistry(
    "executor", {"process": start_processes}
)


def open_pool(spec: WorkerSpec) -> WorkerPool:
    start = EXECUTORS.of_url(spec.url)
    return WorkerPool(lambda: start(spec))


class _Processes(ProcessPoolExecutor):
    """Each process holds the reading end of a pipe whose writing end is only here. It ends when
    the pipe does, also when this process is killed, after which idle workers would otherwise wait
    for ever.

    Pieces of work are begun in the order in which they were given. So one that hangs, or whose
    process was stopped, becomes the oldest and stays it, whatever the other processes do. All are
    killed then: the pool is broken, as when one dies, and everything in it is done again.
    """

    def __init__(self, count: int, silence_seconds: float) -> None:
        context = multiprocessing.get_context("spawn")
        reading_end, self._lifeline = context.Pipe(duplex=False)
        super().__init__(
            count, mp_context=context, initializer=_start_worker, initargs=(reading_end,)
        )
        self._unfinished: dict[Future[Any], None] = {}
        self._is_over = Event()
        pause = silence_seconds / LOOKS
        Thread(target=self._watch, args=(pause,), name="pool watch", daemon=True).start()

    def submit(
        self, fn: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> "Future[Result]":
        future = super().submit(fn, *args, **kwargs)
        self._unfinished[future] = None
        future.add_done_callback(self._forget)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Whatever they are at, and also if they are stopped."""
        self._is_over.set()
        self._lifeline.close()
        self._kill()
        super().shutdown(wait, cancel_futures=cancel_futures)

    def _forget(self, done: "Future[Any]") -> None:
        del self._unfinished[done]

    def _watch(self, pause_seconds: float) -> None:
        """Counts looks, not seconds: time in which this process stood still itself proves
        nothing."""
        oldest, looks = None, 0
        while not self._is_over.wait(pause_seconds):
            before, oldest = oldest, next(iter(list(self._unfinished)), None)
            looks = looks + 1 if oldest is not None and oldest is before else 0
            if looks == LOOKS:
                log.warning("a worker process is stuck; the pool is killed and its work done again")
                self._kill()

    def _kill(self) -> None:
        for process in list((self._processes or {}).values()):
            process.kill()


def _start_worker(lifeline: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the aggregator to handle
    os.nice(NICENESS)
    Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    lifeline.poll(None)
    os._exit(0)
