"""A task tried out as a client does before its first round."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fedperm.errors import PreconditionError
from fedperm_cli.client_code import client_code
from fedperm_cli.run.specs import OptionValue
from fedperm_cli.task.warnings import warnings_of


@dataclass(frozen=True)
class TensorFacts:
    name: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class TaskFacts:
    """`parameters` is d, what is trained; losses and accuracies are of a model just drawn. Its
    fields are the command's JSON."""

    task: str
    parameters: int
    constants: int
    tensors: tuple[TensorFacts, ...]
    records: int
    test_records: int | None
    loss: float
    test_loss: float | None
    test_accuracy: float | None
    unprotected: str | None
    """Why no run can protect its records; None if one can."""
    warnings: tuple[str, ...]


def try_task(
    task: str, options: dict[str, OptionValue], data: Path, shard: int, shards: int
) -> TaskFacts:
    """torch is imported here, and data are read: it takes seconds."""
    with client_code("tasks are run by the client's code"):
        from fedperm_client.tasks.loading import make_task  # noqa: PLC0415 (see above)
        from fedperm_client.tasks.task import TaskContext  # noqa: PLC0415 (see above)
        from fedperm_client.training.other_client import (  # noqa: PLC0415 (see above)
            check_is_same_elsewhere,
        )
        from fedperm_client.training.parameters import (  # noqa: PLC0415 (see above)
            constants,
            tensors_of,
        )
        from fedperm_client.training.single_records import (  # noqa: PLC0415 (see above)
            try_single_records,
        )
        from fedperm_client.training.task_check import checked_model  # noqa: PLC0415 (see above)
        from fedperm_client.training.trial import try_out  # noqa: PLC0415 (see above)

    own = TaskContext(options, shard, shards, data)
    made = make_task(task, own)
    module = checked_model(made)
    tried = try_out(made, module)
    check_is_same_elsewhere(task, own, module, tried.public)
    tensors = tensors_of(module)
    parameters = sum(tensor.size for tensor in tensors)
    return TaskFacts(
        task=task,
        parameters=parameters,
        constants=sum(values.numel() for values in constants(module).values()),
        tensors=tuple(TensorFacts(tensor.name, tensor.shape) for tensor in tensors),
        records=len(tried.own),
        test_records=None if tried.public is None else len(tried.public),
        loss=tried.on_own.loss,
        test_loss=None if tried.on_public is None else tried.on_public.loss,
        test_accuracy=None if tried.on_public is None else tried.on_public.accuracy,
        unprotected=_why_unprotected(partial(try_single_records, module, tried.own, made.loss)),
        warnings=warnings_of(tried, parameters),
    )


def _why_unprotected(try_records: Callable[[], None]) -> str | None:
    try:
        try_records()
    except PreconditionError as error:
        return str(error)
    return None
