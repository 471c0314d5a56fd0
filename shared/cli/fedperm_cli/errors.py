"""What only the command can run into."""

from fedperm.errors import FedPermError


class MissingExtraError(FedPermError):
    """An optional part of the installation is needed and absent."""


class DirectoryError(FedPermError):
    """A directory that the operator named cannot be written to."""
