"""The secret halves of schemes, by the scheme's name."""

from fedperm.registry import Registry
from fedperm_secret.schemes.paillier.scheme import SECRET_PAILLIER
from fedperm_secret.schemes.scheme import SecretScheme

__all__ = ["SECRET_SCHEMES"]

SECRET_SCHEMES: Registry[SecretScheme] = Registry(
    "secret half of a scheme", {SECRET_PAILLIER.name: SECRET_PAILLIER}
)
