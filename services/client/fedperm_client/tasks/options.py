"""Options of a task: checked once, with the known ones named."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import ValidationError

from fedperm.wire.message import Message
from fedperm_client.errors import TaskError
from fedperm_client.tasks.task import Option

Options = TypeVar("Options", bound=Message)


def read_options(given: Mapping[str, Option], known: type[Options]) -> Options:
    try:
        return known.model_validate(dict(given))
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise TaskError(
            f"the task's options are wrong: {wrong}",
            f"the known options are {', '.join(known.model_fields)}",
        ) from None
