"""A trained model as a file that other programs read."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fedperm_cli.client_code import client_code
from fedperm_cli.errors import DirectoryError, OptionsError
from fedperm_cli.model.loading import task_of
from fedperm_cli.model.options import ModelOptions
from fedperm_cli.model.source import model_file

if TYPE_CHECKING:
    from fedperm_client.model_store import StoredModel

SAFETENSORS, STATE_DICTS = ".safetensors", (".pt", ".pth")


@dataclass(frozen=True)
class Exported:
    """`whole`: with the task's frozen parts and buffers. Its fields are the command's JSON."""

    source: str
    file: str
    kind: str
    whole: bool
    tensors: dict[str, list[int]]


def export(place: Path, output: Path, options: ModelOptions) -> Exported:
    """torch is imported here, and a task's code is run: it takes seconds."""
    _check_kind(output)
    source = model_file(place, options.run)
    model = _model(source, options)
    _write(output, model)
    return Exported(
        source=str(source),
        file=str(output),
        kind="safetensors" if output.suffix == SAFETENSORS else "torch state dict",
        whole=options.task is not None,
        tensors={name: list(values.shape) for name, values in model.tensors.items()},
    )


def _model(source: Path, options: ModelOptions) -> "StoredModel":
    """The whole model of a task, or what the file itself names."""
    with client_code("models are read by the client's code"):
        from fedperm_client.model_store import read_model  # noqa: PLC0415 (see above)
        from fedperm_client.training.trained_model import (  # noqa: PLC0415 (see above)
            is_flat,
            whole_model,
        )

    model = read_model(source)
    if options.task is not None:
        return whole_model(task_of(options), model)
    if is_flat(model.tensors):
        raise OptionsError(
            f"{source} holds numbers without names, as checkpoints do",
            "also give --task, which knows the model's tensors",
        )
    return model


def _write(output: Path, model: "StoredModel") -> None:
    from fedperm_client.model_store import write_tensors  # noqa: PLC0415 (see above)
    from fedperm_client.training.trained_model import write_state_dict  # noqa: PLC0415 (see above)

    try:
        if output.suffix == SAFETENSORS:
            write_tensors(output, model.tensors, model.constants)
        else:
            write_state_dict(output, model.tensors)
    except OSError as error:
        raise DirectoryError(
            f"cannot write {output}: {error.strerror}", "choose another file"
        ) from None


def _check_kind(output: Path) -> None:
    if output.suffix not in {SAFETENSORS, *STATE_DICTS}:
        raise OptionsError(
            f"{output} could be anything",
            f"let its name end in {SAFETENSORS}, or in .pt for a torch state dict",
        )
