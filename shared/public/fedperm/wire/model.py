"""A model on the wire and on disk: one tensor `parameters`, all weights flattened, as float64."""

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import BodyError
from fedperm.wire.body import Body, Tensor

Parameters = NDArray[np.float64]


def model_body(parameters: int) -> Body:
    return Body((Tensor("parameters", np.dtype("<f8"), (parameters,)),))


def encode_model(parameters: Parameters) -> bytes:
    return model_body(parameters.size).encode({"parameters": parameters})


def decode_model(body: bytes | memoryview, parameters: int) -> Parameters:
    """The weights as a copy of their own; NaN and infinity are refused."""
    weights: Parameters = model_body(parameters).decode(body)["parameters"].copy()
    if not np.isfinite(weights).all():
        raise BodyError("the model holds NaN or infinity", "make the model again")
    return weights
