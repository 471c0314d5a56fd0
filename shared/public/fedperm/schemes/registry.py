"""The schemes by name: the only module outside a scheme's own room that names one."""

from collections.abc import Mapping
from typing import Protocol

from fedperm.registry import Registry
from fedperm.schemes.paillier.scheme import DEFAULT_KEY_BITS, Paillier, make_paillier
from fedperm.schemes.scheme import Scheme

__all__ = [
    "DEFAULT_KEY_BITS",
    "DEFAULT_SCHEME",
    "SCHEMES",
    "SchemeMaker",
    "default_scheme",
    "make_scheme",
]


class SchemeMaker(Protocol):
    """Checks parameters; refuses with a ParameterError or a KeyStrengthError."""

    def __call__(self, parameters: Mapping[str, int], *, insecure_for_tests: bool) -> Scheme: ...


SCHEMES: Registry[SchemeMaker] = Registry(
    "scheme",
    {Paillier.name: make_paillier},
    reserved={"lattice": "a second scheme, over lattices, is planned"},
)
DEFAULT_SCHEME: Scheme = Paillier(DEFAULT_KEY_BITS)


def make_scheme(
    name: str, parameters: Mapping[str, int], *, insecure_for_tests: bool = False
) -> Scheme:
    """The scheme with these parameters; `insecure_for_tests` admits what protects nobody."""
    return SCHEMES[name](parameters, insecure_for_tests=insecure_for_tests)


def default_scheme(key_bits: int, *, insecure_for_tests: bool = False) -> Scheme:
    """The default scheme with keys of another length."""
    parameters = {"key_bits": key_bits}
    return make_scheme(DEFAULT_SCHEME.name, parameters, insecure_for_tests=insecure_for_tests)
