"""Worker processes: they end with the aggregator, whichever way it ends."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path

import pytest

from fedperm.errors import SettingsError
from fedperm.workers import Workers
from fedperm_aggregator.jobs.pool import EXECUTORS, LOOKS, WorkerPool, WorkerSpec, open_pool
from tests.core.federation import IN_THIS_PROCESS
from tests.proc import is_running

PATIENCE_SECONDS = 120.0
SILENCE_SECONDS = 5.0
"""Longer than a process takes to start on a busy machine: that is part of its first work."""


def process_pool(count: int, silence_seconds: float) -> WorkerPool:
    return open_pool(WorkerSpec("process://", count, silence_seconds))


def wait_until_gone(pid: int) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while is_running(pid):
        assert time.monotonic() < end, "the worker outlived its parent"
        time.sleep(0.02)


def test_a_broken_pool_is_replaced_once_and_closing_ends_a_job_in_its_middle():
    pool = process_pool(1, PATIENCE_SECONDS)
    broken = pool.workers
    with pytest.raises(BrokenProcessPool):
        broken.executor.submit(os._exit, 1).result()
    pool.replace(broken)
    fresh = pool.workers
    pool.replace(broken)
    assert pool.workers is fresh is not broken
    worker = fresh.executor.submit(os.getpid).result()
    assert worker != os.getpid()
    endless = fresh.executor.submit(time.sleep, 3600)
    pool.close()
    with pytest.raises((BrokenProcessPool, CancelledError)):
        endless.result(PATIENCE_SECONDS)
    wait_until_gone(worker)


@pytest.mark.system
def test_a_stopped_worker_is_killed_and_a_slow_one_is_not():
    """All pieces of work together take longer than the silence that is put up with."""
    pool = process_pool(1, SILENCE_SECONDS)
    executor = pool.workers.executor
    worker = executor.submit(os.getpid).result()
    for piece in [executor.submit(time.sleep, 0.5) for _ in range(11)]:
        piece.result()
    os.kill(worker, signal.SIGSTOP)
    waiting = [executor.submit(os.getpid) for _ in range(2)]
    for piece in waiting:
        with pytest.raises(BrokenProcessPool):
            piece.result(PATIENCE_SECONDS)
    wait_until_gone(worker)
    pool.replace(pool.workers)
    assert pool.workers.executor.submit(os.getpid).result() != worker
    pool.close()


def test_a_worker_that_hangs_is_noticed_while_others_go_on():
    pool = process_pool(2, SILENCE_SECONDS)
    executor = pool.workers.executor
    hanging = executor.submit(time.sleep, 3600)
    end, done = time.monotonic() + PATIENCE_SECONDS, 0
    with suppress(BrokenProcessPool):
        while time.monotonic() < end:
            executor.submit(time.sleep, 0.05).result(PATIENCE_SECONDS)
            done += 1
    assert done > LOOKS
    assert isinstance(hanging.exception(PATIENCE_SECONDS), BrokenProcessPool)
    pool.close()


def test_a_pool_is_closed_although_a_worker_is_stopped():
    pool = process_pool(1, PATIENCE_SECONDS)
    worker = pool.workers.executor.submit(os.getpid).result()
    os.kill(worker, signal.SIGSTOP)
    pool.close()
    wait_until_gone(worker)


PARENT = """
import os, time
from fedperm_aggregator.jobs.pool import WorkerSpec, open_pool
if __name__ == "__main__":
    pool = open_pool(WorkerSpec("process://", 1, 30.0))
    print(pool.workers.executor.submit(os.getpid).result(), flush=True)
    time.sleep(3600)
"""


def test_workers_end_when_the_aggregator_is_killed(tmp_path: Path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    quiet = subprocess.DEVNULL  # Python warns of what a killed process leaves behind
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=quiet, text=True
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        assert is_running(worker)
        parent.send_signal(signal.SIGKILL)
    wait_until_gone(worker)


def test_workers_are_chosen_by_the_scheme_of_a_url():
    seen: list[WorkerSpec] = []

    def start(spec: WorkerSpec) -> Workers:
        seen.append(spec)
        return IN_THIS_PROCESS

    EXECUTORS.register("test-cluster", start)
    spec = WorkerSpec("test-cluster://scheduler:8786", 7, 30.0)
    pool = open_pool(spec)
    assert pool.workers is IN_THIS_PROCESS
    pool.replace(IN_THIS_PROCESS)
    assert seen == [spec, spec]


def test_a_url_that_names_no_executor_is_refused():
    with pytest.raises(SettingsError, match="there is no executor for ray://") as refused:
        open_pool(WorkerSpec("ray://user:password@head", 1, 30.0))
    assert "password" not in str(refused.value)
    assert "process://" in refused.value.hint
