"""What a client of a run needs on its machine."""

from dataclasses import dataclass

from fedperm.run_document import RunDocument
from fedperm.schemes.paillier.public_key import PublicKey
from fedperm.wire.update import update_body
from fedperm_cli.plan.forecast import CLIENT_PROCESS_BYTES, client_holds

_MODELS_KEPT = 3
"""A checkpoint, its next version while that is written, and the exported model."""


@dataclass(frozen=True)
class Needs:
    """In octets; memory None where no run is known."""

    client_disk: int
    client_memory: int | None


def needs_of(document: RunDocument, key: PublicKey) -> Needs:
    """`key` is any of the run's length."""
    shape = document.plan
    upload = update_body(shape, key).size
    models = _MODELS_KEPT * 8 * document.model.parameters
    return Needs(2 * upload + models, CLIENT_PROCESS_BYTES + client_holds(shape, key, upload))
