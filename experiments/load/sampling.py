"""Samples of a running container, taken by one `sh` in it: `docker stats` costs more than it
measures here, and rounds what it says."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import cast

from python_on_whales import Container
from python_on_whales.exceptions import DockerException

from experiments.load.usage import SAMPLES, Sample, read_sample
from fedperm.clock import Clock

_KILLED = 137
"""What is left of a shell whose container has ended."""


@contextmanager
def sampled(container: Container, clock: Clock) -> Iterator[list[Sample]]:
    """The list grows until the block is left or the container ends."""
    samples: list[Sample] = []
    enough = Event()

    def collect() -> None:
        for line in _lines(container):
            samples.append(read_sample(line, clock.now()))
            if enough.is_set():
                return

    with ThreadPoolExecutor(1) as thread:
        collecting = thread.submit(collect)
        try:
            yield samples
        finally:
            enough.set()
    collecting.result()


def _lines(container: Container) -> Iterator[str]:
    answer = container.execute(["sh", "-c", SAMPLES], stream=True)
    try:
        for _, line in cast("Iterator[tuple[str, bytes]]", answer):
            yield line.decode()
    except DockerException as error:
        if error.return_code != _KILLED:
            raise
