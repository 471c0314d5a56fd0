"""Why there is no measurement."""

from fedperm.errors import FedPermError


class LoadError(FedPermError):
    """The containers did not do what a load test needs."""
