"""p and q leave their objects only through doors that name the capability."""

import copy
import inspect
import pickle
from pathlib import Path

import pytest

import fedperm_secret.schemes.paillier.storage
from fedperm.schemes.paillier.blinding import BlindingPool
from fedperm_secret.access import SECRET_KEY_ACCESS, SecretKeyAccess
from fedperm_secret.schemes.paillier.decryption import Decryptor
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import SecretKey
from fedperm_secret.schemes.paillier.storage import (
    secret_key_from_bytes,
    secret_key_from_phe,
    secret_key_to_bytes,
    secret_key_to_phe,
)
from tests.keys.foreign_keys import phe_key
from tests.keys.secrecy import pieces_shown

REPOSITORY = Path(__file__).parents[2]

FILES_THAT_OPEN_SECRET_KEYS = [
    "shared/cli/fedperm_cli/bench/baseline.py",
    "shared/secret/fedperm_secret/access.py",
    "shared/secret/fedperm_secret/custody.py",
    "shared/secret/fedperm_secret/schemes/paillier/decryption.py",
    "shared/secret/fedperm_secret/schemes/paillier/fixed_base.py",
]
"""Add a file here only after asking why it must see p and q."""

GUARDED = ["key", "decryptor", "blinding", "pool", "residues", "half"]


@pytest.fixture
def guarded(request, small_key, randomness):
    match request.param:
        case "key":
            return small_key
        case "decryptor":
            return Decryptor(small_key)
        case "blinding":
            return SecretBlinding(small_key)
        case "residues":
            return SecretBlinding(small_key)._p_residues
        case "half":
            return Decryptor(small_key)._p_half
        case "pool":
            pool = BlindingPool(SecretBlinding(small_key), randomness)
            pool.fill(2)
            return pool


@pytest.mark.parametrize("guarded", GUARDED, indirect=True)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_it_cannot_be_pickled(guarded, protocol):
    with pytest.raises(TypeError, match="cannot be"):
        pickle.dumps(guarded, protocol)


@pytest.mark.parametrize("guarded", GUARDED, indirect=True)
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_it_cannot_be_copied(guarded, duplicate):
    with pytest.raises(TypeError, match="cannot be"):
        duplicate(guarded)


@pytest.mark.parametrize("guarded", GUARDED, indirect=True)
def test_inside_a_container_it_cannot_be_pickled_or_copied(guarded):
    with pytest.raises(TypeError, match="cannot be"):
        pickle.dumps({"secret": [guarded]})
    with pytest.raises(TypeError, match="cannot be"):
        copy.deepcopy([guarded])


@pytest.mark.parametrize("guarded", GUARDED, indirect=True)
@pytest.mark.parametrize("show", [repr, str, format, ascii, lambda it: f"{[it]}"])
def test_printing_it_shows_nothing_of_p_and_q(guarded, show, small_key):
    assert pieces_shown(show(guarded), small_key) == []


def test_the_search_for_pieces_finds_them(small_key):
    """The assertion above can fail."""
    assert pieces_shown(secret_key_to_bytes(small_key, SECRET_KEY_ACCESS).decode(), small_key)


def test_printing_a_key_shows_which_key_it_is(small_key):
    assert repr(small_key) == f"<SecretKey of {small_key.public_key.key_id[:16]}>"


def test_a_secret_key_has_no_dict_to_dump(small_key):
    assert not hasattr(small_key, "__dict__")
    with pytest.raises(TypeError):
        vars(small_key)
    with pytest.raises(AttributeError):
        small_key.note = "attributes cannot be added"


def test_every_door_needs_the_capability(small_key):
    with pytest.raises(TypeError, match="access"):
        small_key.factors()
    with pytest.raises(TypeError, match="access"):
        secret_key_to_bytes(small_key)
    with pytest.raises(TypeError, match="access"):
        secret_key_from_bytes(b"{}")
    with pytest.raises(TypeError, match="access"):
        secret_key_to_phe(small_key)
    with pytest.raises(TypeError, match="access"):
        secret_key_from_phe(phe_key(64, seed=1))


def test_every_function_of_the_storage_that_touches_a_secret_key_asks_for_the_capability():
    storage = fedperm_secret.schemes.paillier.storage
    functions = dict(inspect.getmembers(storage, inspect.isfunction))
    secret = {name for name in functions if name.startswith("secret_key_")}
    for name in secret:
        annotations = [p.annotation for p in signature(functions[name]).parameters.values()]
        assert SecretKeyAccess in annotations
        assert all(
            p.default is inspect.Parameter.empty
            for p in signature(functions[name]).parameters.values()
            if p.annotation is SecretKeyAccess
        )
    assert secret == {
        "secret_key_to_bytes",
        "secret_key_from_bytes",
        "secret_key_to_phe",
        "secret_key_from_phe",
    }


def signature(function):
    return inspect.signature(function, eval_str=True)


@pytest.mark.parametrize(
    "forged", [None, object(), SecretKeyAccess()], ids=["None", "object", "made"]
)
def test_only_the_one_capability_opens_the_doors(small_key, forged):
    """Otherwise a search for its name would not find every place that sees p and q."""
    with pytest.raises(TypeError):
        small_key.factors(forged)
    with pytest.raises(TypeError):
        secret_key_to_bytes(small_key, forged)
    with pytest.raises(TypeError):
        secret_key_to_phe(small_key, forged)


def test_the_files_that_name_the_capability_are_the_reviewed_ones():
    assert sources_with("SECRET_KEY_ACCESS") == FILES_THAT_OPEN_SECRET_KEYS


def sources_with(word):
    """The product's files, not the tests, that hold the word."""
    paths = [path for part in ("shared", "services") for path in (REPOSITORY / part).rglob("*.py")]
    found = [path for path in paths if word in path.read_text()]
    return sorted(path.relative_to(REPOSITORY).as_posix() for path in found)


def test_the_capability_is_made_in_one_place_only():
    package = REPOSITORY / "shared/secret/fedperm_secret"
    making = [
        path.name for path in package.rglob("*.py") if "SecretKeyAccess()" in path.read_text()
    ]
    assert making == ["access.py"]


def test_the_type_of_a_secret_key_is_not_a_dataclass():
    """dataclasses.asdict would be one more door."""
    assert not hasattr(SecretKey, "__dataclass_fields__")
