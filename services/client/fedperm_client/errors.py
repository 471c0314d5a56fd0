"""What can go wrong at a client only."""

from fedperm.errors import FedPermError, PeerError, PrivacyError


class CeilingError(PrivacyError):
    """A run asks this client for more than its own settings give; it does not take part."""


class TaskError(FedPermError):
    """The model or the data of a task cannot be trained on as the run asks."""


class StateError(FedPermError):
    """What the client kept of itself is damaged, or belongs to something else."""


class VersionError(PeerError):
    """A server and this client are of versions that do not work together. Nothing was changed."""


class WithheldKeyError(PeerError):
    """The key server does not give this client the secret key of an epoch."""
