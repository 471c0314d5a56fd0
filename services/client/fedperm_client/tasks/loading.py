"""From a name to a task: one of ours, or a class in a file that the client's owner names."""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

from fedperm_client.errors import TaskError
from fedperm_client.tasks.asking import TASK_ERRORS, asking_for, place_of
from fedperm_client.tasks.digits import Digits
from fedperm_client.tasks.mnist import Mnist
from fedperm_client.tasks.shards import without_shards
from fedperm_client.tasks.synthetic import Synthetic
from fedperm_client.tasks.task import Task, TaskContext

TaskFactory = Callable[[TaskContext], Task]

BUILT_IN: dict[str, TaskFactory] = {"digits": Digits, "mnist": Mnist, "synthetic": Synthetic}
_PARTS = ("model", "training_data", "test_data", "loss")


def make_task(name: str, context: TaskContext) -> Task:
    """`name` is built in, or `path.py:Class`; never pass on a name from a run's document here
    that may hold a path: see `task_of_run`."""
    factory = BUILT_IN.get(name) or _class_in_file(name)
    _check_takes_a_context(name, factory)
    with asking_for(f"making {name}"):
        task = factory(without_shards(context))
    _check_parts(name, task)
    return task


def task_of_run(named: str, own: str | None, context: TaskContext) -> Task:
    """The client's own task if it has one, else the built-in one that the document names."""
    if own is None and named not in BUILT_IN:
        raise TaskError(
            f"the run's task is {named}, which is not built in",
            "set FEDPERM_TASK to path.py:Class; built in are " + ", ".join(BUILT_IN),
        )
    return make_task(own or named, context)


def _class_in_file(name: str) -> TaskFactory:
    path, colon, class_name = name.rpartition(":")
    if not colon or not path.endswith(".py"):
        raise TaskError(
            f"there is no task {name}",
            f"choose {' or '.join(BUILT_IN)}, or name a class in a file as path.py:Class",
        )
    module = _module(Path(path))
    factory: TaskFactory | None = getattr(module, class_name, None)
    if not callable(factory):
        raise TaskError(f"{path} has no class {class_name}", "check the name after the colon")
    return factory


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"fedperm_task_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise TaskError(f"there is no file {path}", "check the path before the colon")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        with _importing_beside(path):
            spec.loader.exec_module(module)
    except TASK_ERRORS as error:
        del sys.modules[spec.name]
        raise TaskError(
            f"{path} cannot be imported: {type(error).__name__}: {error}",
            f"{_remedy(error, path)}{place_of(error)}",
        ) from error
    return module


@contextmanager
def _importing_beside(path: Path) -> Iterator[None]:
    """Modules in the file's folder go first, as if it were run by itself. Afterwards they go last:
    functions of the task may import some later, and must not hide anybody else's."""
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)


def _remedy(error: BaseException, path: Path) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"install {error.name}, or put {error.name}.py beside {path.name}"
    return "correct it"


def _check_takes_a_context(name: str, factory: TaskFactory) -> None:
    try:
        signature(factory).bind(None)
    except TypeError as error:
        raise TaskError(
            f"{name} cannot be made: {error}", "let its __init__ take one TaskContext"
        ) from None


def _check_parts(name: str, task: object) -> None:
    missing = [part for part in _PARTS if not callable(getattr(task, part, None))]
    if missing:
        raise TaskError(
            f"{name} has no {', '.join(missing)}",
            f"a task has {', '.join(_PARTS)}: see fedperm_client.tasks.task",
        )
