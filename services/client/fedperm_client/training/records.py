"""The records of a task: handed in as they must be, and compared with each other."""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fedperm_client.errors import TaskError
from fedperm_client.tasks.asking import asking_for
from fedperm_client.tasks.task import Examples, Task

OWN, PUBLIC = "training_data", "test_data"

TRIED_RECORDS = 16
"""Together and one by one; enough to meet some of each class."""


def own_records(task: Task) -> Examples:
    with asking_for(f"{OWN}()"):
        given = task.training_data()
    return _checked(given, OWN)


def public_records(task: Task) -> Examples | None:
    with asking_for(f"{PUBLIC}()"):
        given = task.test_data()
    return None if given is None else _checked(given, PUBLIC)


def spread(examples: Examples, most: int) -> Examples:
    """At most so many, from the first to the last: files are often sorted by class."""
    count = min(most, len(examples))
    places = torch.arange(count) * (len(examples) - 1) // max(1, count - 1)
    return Examples(examples.inputs[places], examples.targets[places])


def one_by_one(examples: Examples) -> Iterator[Examples]:
    """Batches of one."""
    pairs = zip(examples.inputs.unsqueeze(1), examples.targets.unsqueeze(1), strict=True)
    return (Examples(inputs, targets) for inputs, targets in pairs)


def are_same(one: Examples | None, other: Examples | None) -> bool:
    if one is None or other is None:
        return one is other
    return torch.equal(one.inputs, other.inputs) and torch.equal(one.targets, other.targets)


def count_shared(own: Examples, public: Examples) -> int:
    """How many of one's own records are public ones as well."""
    known = set(_fingerprints(public))
    return sum(one in known for one in _fingerprints(own))


def in_words(examples: Examples) -> str:
    return f"inputs {_form(examples.inputs)} and targets {_form(examples.targets)}"


def form_of_one(examples: Examples) -> str:
    """The shapes and types of a single record."""
    return f"inputs {_form(examples.inputs[0])} and targets {_form(examples.targets[0])}"


def _form(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"


def _fingerprints(examples: Examples) -> Iterator[tuple[int, int]]:
    """Hashes: a second copy of all records might not fit into memory."""
    for one, target in zip(_octets(examples.inputs), _octets(examples.targets), strict=True):
        yield hash(one.tobytes()), hash(target.tobytes())


def _octets(tensor: Tensor) -> NDArray[np.uint8]:
    """A row a record, whatever the type: numpy does not know all of torch's."""
    rows = tensor.detach().cpu().reshape(len(tensor), -1).contiguous()
    octets: NDArray[np.uint8] = rows.view(torch.uint8).numpy()
    return octets


def _checked(examples: object, part: str) -> Examples:
    if not isinstance(examples, Examples):
        raise TaskError(
            f"{part}() gives {type(examples).__name__}", "return Examples(inputs, targets)"
        )
    _check_tensor(part, "inputs", examples.inputs)
    _check_tensor(part, "targets", examples.targets)
    if len(examples.inputs) == 0 or len(examples.inputs) != len(examples.targets):
        raise TaskError(
            f"{part}() gives {len(examples.inputs)} inputs and {len(examples.targets)} targets",
            "return one target for each input, and at least one",
        )
    return examples


def _check_tensor(part: str, name: str, values: object) -> None:
    if not isinstance(values, Tensor):
        raise TaskError(
            f"the {name} of {part}() are {type(values).__name__}",
            "hand in tensors: torch.as_tensor(...)",
        )
    if values.ndim == 0:
        raise TaskError(f"the {name} of {part}() are one number", "stack records along axis 0")
    if values.is_floating_point() and not bool(torch.isfinite(values).all()):
        raise TaskError(
            f"the {name} of {part}() hold NaN or infinity", "repair or leave out such records"
        )
