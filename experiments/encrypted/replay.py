"""Rounds again, from recorded integers, without any encryption."""

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from experiments.accuracy.fedperm import step
from fedperm.run_document import RunDocument
from fedperm.wire.digest import sha256_of
from fedperm.wire.model import Parameters, encode_model


def replayed(
    document: RunDocument, initial: Parameters, rounds: Sequence[Sequence[NDArray[Any]]]
) -> Iterator[str]:
    """The model's hash after each round, given the clients' coded integers."""
    parameters = initial
    for coded in rounds:
        parameters = parameters + step(document, coded)
        yield sha256_of(encode_model(parameters))
