"""What only the command can run into."""

from fedperm.errors import FedPermError


class MissingExtraError(FedPermError):
    """An optional part of the installation is needed and absent."""


class DirectoryError(FedPermError):
    """A directory that the operator named cannot be written to."""


class OptionsError(FedPermError):
    """Options that exclude one another, or need one another."""


class FederationError(FedPermError):
    """A run or one of its processes came to a bad end."""


class DeploymentError(FedPermError):
    """A deployment's files are damaged, or not those of the deployment that was asked for."""
