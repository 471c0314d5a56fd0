"""Everything in one thread, so that a sequence of operations runs alike every time, and so that a
folder can be copied at any moment as a killed process would leave it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import cache
from itertools import count
from random import Random
from typing import Any, TypeVar

import anyio.to_thread
import pytest
from fastapi.dependencies import models as dependency_models

from fedperm.schemes.paillier.blinding import BlindingPool
from fedperm_aggregator.jobs import runner
from fedperm_secret.schemes.paillier import scheme
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import SecretKey, generate_key

Result = TypeVar("Result")


class OneThreadLoop(asyncio.SelectorEventLoop):
    """What is handed to a thread is done at once."""

    def run_in_executor(self, _executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except BaseException as error:  # whoever waits for it gets it, as from a thread
            future.set_exception(error)
        return future


class AtOnce(Executor):
    """For threads whose results are looked at later. An end of the process is not kept for then."""

    def __init__(self, *_args: Any) -> None: ...

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


async def _run_sync(func: Callable[..., Result], *args: Any, **_options: Any) -> Result:
    return func(*args)


def at_once(work: Coroutine[Any, Any, Result]) -> Result:
    """From within code that cannot wait: here nothing has to."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits for something")


@contextmanager
def _not_filling(_pool: BlindingPool, _target: int) -> Iterator[None]:
    """Blinding factors are made when they are needed."""
    yield


@cache
def _tables(key: SecretKey) -> SecretBlinding:
    """Made once for each key, and not by every client again."""
    return SecretBlinding(key)


@cache
def _key(number: int) -> SecretKey:
    """Drawing one takes longer than a round."""
    return generate_key(Random(number), 512, insecure_for_tests=True)


@contextmanager
def one_thread() -> Iterator[Callable[[Awaitable[Any]], Any]]:
    """Runs what is awaited, on a loop of its own. Keys are the same ones in every federation."""
    numbers = count()
    with pytest.MonkeyPatch.context() as patch, asyncio.Runner(loop_factory=OneThreadLoop) as loop:
        patch.setattr(anyio.to_thread, "run_sync", _run_sync)
        patch.setattr(runner, "ThreadPoolExecutor", AtOnce)
        patch.setattr(BlindingPool, "filling", _not_filling)
        patch.setattr(scheme, "SecretBlinding", _tables)
        patch.setattr(scheme, "generate_key", lambda *_args, **_options: _key(next(numbers)))
        loop.get_loop().set_exception_handler(lambda _loop, _context: None)
        yield loop.run
    _forget_applications()


def _forget_applications() -> None:
    """FastAPI remembers the dependencies of every application that there ever was."""
    for remembered in vars(dependency_models).values():
        if hasattr(remembered, "cache_clear"):
            remembered.cache_clear()
