"""A sealed checkpoint on the wire: one tensor `sealed`, a model's body as only the run's clients
can read it (`fedperm_secret.reader_key`)."""

import numpy as np

from fedperm.wire.body import Body, Tensor
from fedperm.wire.model import model_body

SEALING_OCTETS = 16
"""By which a sealed model is longer than its body."""


def sealed_body(parameters: int) -> Body:
    size = model_body(parameters).size + SEALING_OCTETS
    return Body((Tensor("sealed", np.dtype("u1"), (size,)),))


def encode_sealed(sealed: bytes, parameters: int) -> bytes:
    return sealed_body(parameters).encode({"sealed": np.frombuffer(sealed, np.uint8)})


def decode_sealed(body: bytes, parameters: int) -> bytes:
    octets: bytes = sealed_body(parameters).decode(body)["sealed"].tobytes()
    return octets
