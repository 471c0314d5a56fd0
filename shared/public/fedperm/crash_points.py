"""Named moments at which a test ends a process: around everything that is made durable.

Every transaction of a store, and every step marked with `persisting`, has such moments, named after
the method:

SubmissionStore.store.uncommitted    the transaction has done its work and is not committed
Outbox.put.unnamed               the file is on disk under a temporary name
Outbox.put.done                  durable, and nobody was told

A step that may turn out to be one of several says which: RoundStore.advance.Seal.uncommitted.

They exist only where FEDPERM_TEST_CRASH_POINT was set when the process started; elsewhere
`persisting` hands the method back as it is.

FEDPERM_TEST_CRASH_POINT=NAME      SIGKILL at the first passing
FEDPERM_TEST_CRASH_POINT=NAME:3    at the third
FEDPERM_TEST_CRASH_POINT=watch     nothing happens; a test in this process may watch
"""

import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from itertools import count
from typing import ParamSpec, TypeVar

log = logging.getLogger(__name__)

VARIABLE = "FEDPERM_TEST_CRASH_POINT"
WATCH = "watch"

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Watcher = Callable[[str], None]

_wanted = os.environ.get(VARIABLE, "")
ARE_COMPILED_IN = bool(_wanted)


@dataclass
class _Step:
    name: str
    kind: str = ""


_step: ContextVar[_Step] = ContextVar("step", default=_Step("unmarked"))  # noqa: B039 (never changed)


def _nothing(_name: str) -> None:
    pass


def killing(wanted: str) -> Watcher:
    """NAME or NAME:n, as in the environment variable."""
    name, _, which = wanted.partition(":")
    passings = count(1)

    def watch(passed: str) -> None:
        if passed == name and next(passings) == int(which or 1):
            os.kill(os.getpid(), signal.SIGKILL)

    return watch


_watcher: Watcher = _nothing if _wanted in {"", WATCH} else killing(_wanted)


def passing(moment: str) -> None:
    """This moment of the step under way; the watcher may not let it go on."""
    if ARE_COMPILED_IN:
        step = _step.get()
        _watcher(f"{step.name}{step.kind}.{moment}")


def specify(kind: type) -> None:
    """Within a step: what it turned out to be. The step's later moments say so."""
    if ARE_COMPILED_IN:
        _step.get().kind = f".{kind.__name__}"


def persisting(method: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A step that leaves something on the disk."""
    if not ARE_COMPILED_IN:
        return method

    @wraps(method)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        outer = _step.set(_Step(method.__qualname__))
        try:
            result = method(*args, **kwargs)
            passing("done")
        finally:
            _step.reset(outer)
        return result

    return run


def warn_if_compiled_in() -> None:
    """At the start of a program."""
    if _wanted not in {"", WATCH}:
        log.warning("crash points are compiled in (%s=%s): for tests only", VARIABLE, _wanted)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """For tests in one process: every moment that is passed in the block, in any thread."""
    global _watcher  # noqa: PLW0603 (a test's eye on the whole process)
    if not ARE_COMPILED_IN:
        raise RuntimeError(f"crash points are not compiled in: set {VARIABLE}={WATCH} before")
    before, _watcher = _watcher, watcher
    try:
        yield
    finally:
        _watcher = before
