"""Why a model cannot be trained with the record-level guarantee."""

from fedperm.errors import PreconditionError


class PerExampleError(PreconditionError):
    """The model or its data give no gradient of one example alone, or not of all parameters."""
