"""What a client of a run needs on its machine."""

from dataclasses import dataclass

from fedperm.run_document import RunDocument
from fedperm_cli.plan.forecast import client_memory, upload_size

_MODELS_KEPT = 3
"""A checkpoint, its next version while that is written, and the exported model."""


@dataclass(frozen=True)
class Needs:
    """In octets; memory None where no run is known."""

    client_disk: int
    client_memory: int | None


def needs_of(document: RunDocument) -> Needs:
    models = _MODELS_KEPT * 8 * document.model.parameters
    return Needs(2 * upload_size(document.plan) + models, client_memory(document.plan))
