"""The model between two rounds: parameters and the round they belong to, in one file.

The file is replaced as a whole. So after a crash the client has the parameters before a round or
after it, knows which, and an average is applied exactly once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from fedperm.crash_points import persisting
from fedperm.durable_file import write_durably
from fedperm.ids import EpochNumber, RoundNumber
from fedperm.lineage import Lineage
from fedperm.run_document import ModelSpec, TensorSpec
from fedperm.wire.digest import sha256_of
from fedperm.wire.model import Parameters, encode_model
from fedperm_client.errors import StateError

Tensors = dict[str, NDArray[Any]]
"""By name."""

_CONSTANTS, NO_CONSTANTS = "constants_sha256", "none"
"""What a file tells of the model's other values, and where there are none."""

_LINEAGE, _LINEAGE_ROUND = "lineage_sha256", "lineage_round"
"""Of a checkpoint only."""


@dataclass(frozen=True, eq=False)
class StoredModel:
    """`constants` is the hash of frozen parameters and buffers that the tensors were trained with,
    or NO_CONSTANTS; None in files that do not tell."""

    tensors: Tensors
    constants: str | None


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """`settled` is the last round dealt with, 0 before the first; `epoch` the key epoch that it
    used; `document` the hash of the run's. `lineage` is None if a client wrote it that did not know
    of it yet: nobody can tell afterwards what was applied."""

    parameters: Parameters
    settled: RoundNumber
    epoch: EpochNumber
    document: str
    lineage: Lineage | None = None

    @property
    def sha256(self) -> str:
        """Of the parameters as a model's body: what clients compare."""
        return sha256_of(encode_model(self.parameters))


class ModelStore:
    def __init__(self, path: Path, constants: str | None = None) -> None:
        """A checkpoint is a model, too: see StoredModel."""
        self._path = path
        self._constants = constants

    @persisting
    def save(self, checkpoint: Checkpoint) -> None:
        """Durable before it returns."""
        facts = {
            "settled": str(checkpoint.settled),
            "epoch": str(checkpoint.epoch),
            "document": checkpoint.document,
            **_descent(checkpoint.lineage),
            **_told(self._constants),
        }
        write_durably(
            self._path, safetensors.numpy.save({"parameters": checkpoint.parameters}, facts)
        )

    def load(self, document: str, parameters: int) -> Checkpoint | None:
        """None before the first save; a checkpoint of another document is refused."""
        if not self._path.exists():
            return None
        checkpoint = self._read()
        if checkpoint.document != document:
            raise StateError(
                f"{self._path} belongs to another document of this run",
                "the run was made anew under its old name: take part with a new state directory",
            )
        if checkpoint.parameters.shape != (parameters,):
            raise self._damaged()
        return checkpoint

    def _read(self) -> Checkpoint:
        try:
            with safe_open(self._path, "np") as file:
                facts, values = file.metadata(), file.get_tensor("parameters")
            return Checkpoint(
                values.astype(np.float64, casting="safe"),
                RoundNumber(int(facts["settled"])),
                EpochNumber(int(facts["epoch"])),
                facts["document"],
                _lineage(facts),
            )
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise self._damaged() from error

    def _damaged(self) -> StateError:
        return StateError(
            f"the checkpoint {self._path} is damaged",
            "remove it: the client starts from the initial model and replays all rounds",
        )


@persisting
def export_model(path: Path, parameters: Parameters, model: ModelSpec) -> None:
    """The tensors by name, as safetensors: any program can load them."""
    write_tensors(path, named_tensors(parameters, model.tensors), constants_of(model))


def named_tensors(parameters: Parameters, tensors: Sequence[TensorSpec]) -> Tensors:
    named: Tensors = {}
    start = 0
    for tensor in tensors:
        named[tensor.name] = parameters[start : start + tensor.size].reshape(tensor.shape)
        start += tensor.size
    return named


def constants_of(model: ModelSpec) -> str:
    return model.constants_sha256 or NO_CONSTANTS


def write_tensors(path: Path, tensors: Tensors, constants: str | None) -> None:
    write_durably(path, safetensors.numpy.save(tensors, _told(constants) or None))


def read_model(path: Path) -> StoredModel:
    """Any model or checkpoint that somebody has."""
    try:
        with safe_open(path, "np") as file:
            facts, names = file.metadata() or {}, file.keys()
            tensors = {name: file.get_tensor(name) for name in names}
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise StateError(
            f"{path} cannot be read as a model: {error}", "name a safetensors file"
        ) from None
    return StoredModel(tensors, facts.get(_CONSTANTS))


def _told(constants: str | None) -> dict[str, str]:
    return {} if constants is None else {_CONSTANTS: constants}


def _descent(lineage: Lineage | None) -> dict[str, str]:
    if lineage is None:
        return {}
    return {_LINEAGE: lineage.sha256, _LINEAGE_ROUND: str(lineage.round)}


def _lineage(facts: Mapping[str, str]) -> Lineage | None:
    if _LINEAGE not in facts:
        return None
    return Lineage(RoundNumber(int(facts[_LINEAGE_ROUND])), facts[_LINEAGE])
