"""Everything secret in a run of real processes, as needles for the scanner."""

import math
from collections.abc import Iterator
from pathlib import Path

import gmpy2

from fedperm.clock import SystemClock
from fedperm.database import Database, sqlite_url
from fedperm.randomness import from_operating_system
from fedperm.wire.enrolment_token import parse_token
from fedperm.wire.public_keys import from_text
from fedperm_client.identity import ClientKeys
from fedperm_client.state_directory import StateDirectory
from fedperm_keyserver.authority import Authority, establish
from fedperm_keyserver.stores.keys import IdentityStore, KeyStore
from fedperm_keyserver.vault import key_encryption_key
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.keys import SecretKey
from tests.federation.world import KEY, World
from tests.keys.sealing import taken_out
from tests.leaks import needles
from tests.leaks.known_client import KnownClient
from tests.leaks.needles import Needle


def paillier(world: World, epochs: int) -> Iterator[Needle]:
    """From the key server's vault, with its key-encryption key: the judge is no party."""
    path = world.folder.state("keyserver") / "keyserver.db"
    database = Database(sqlite_url(path))
    try:
        authority = _authority(database, world)
        assert authority.vault is not None
        for epoch in range(1, epochs + 1):
            secret_key = taken_out(authority.vault, KeyStore(database).epoch(KEY, epoch))
            yield from of_secret_key(secret_key, f"epoch {epoch}")
        yield from needles.octets(
            "key server's signing key", authority.vault.signing_key.private_bytes_raw()
        )
    finally:
        database.close()


def _authority(database: Database, world: World) -> Authority:
    kek = key_encryption_key(_key_encryption_key(world))
    given = SystemClock(), from_operating_system()
    return establish(IdentityStore(database), kek, *given)


def of_secret_key(secret_key: SecretKey, name: str) -> Iterator[Needle]:
    """p, q, and whatever decryption and blinding work out of them."""
    p, q = map(int, secret_key.factors(SECRET_KEY_ACCESS))
    worked_out = {
        "p": p,
        "q": q,
        "lambda": math.lcm(p - 1, q - 1),
        "(p-1)(q-1)": (p - 1) * (q - 1),
        "p^2": p * p,
        "q^2": q * q,
        "1/p mod q": int(gmpy2.invert(p, q)),
        "1/q mod p": int(gmpy2.invert(q, p)),
        "1/p^2 mod q^2": int(gmpy2.invert(p * p, q * q)),
        "1/lambda mod n": int(gmpy2.invert(math.lcm(p - 1, q - 1), p * q)),
    }
    for what, value in worked_out.items():
        yield from needles.number(f"{what} of {name}", value)


def key_encryption(world: World) -> Iterator[Needle]:
    """Its file holds hexadecimal digits, which are one of the writings."""
    yield from needles.octets("key-encryption key", bytes.fromhex(_key_encryption_key(world)))


def _key_encryption_key(world: World) -> str:
    return (world.folder.secrets / "key-encryption-key").read_text()


def key_operator(world: World) -> list[Needle]:
    return needles.text("key operator's secret", world.key_operator)


def run_operator(world: World) -> list[Needle]:
    return needles.text("run operator's secret", world.run_operator)


def enrolment(tokens: list[str]) -> Iterator[Needle]:
    for number, token in enumerate(tokens):
        yield from needles.octets(f"enrolment token {number}", parse_token(token).secret)


def identity(state: Path) -> Iterator[Needle]:
    keys = ClientKeys.kept_at(StateDirectory(state).keys, from_operating_system())
    for what, key in (("signing", keys.signing), ("sealing", keys.sealing)):
        yield from needles.octets(f"{what} key of {state.name}", key.private_bytes_raw())


def patterns(client: KnownClient) -> Iterator[Needle]:
    for number, permutation in enumerate(client.randomness.shuffled):
        yield from needles.pattern(f"pattern {number}", permutation)


def access(tokens: set[str], where: str) -> Iterator[Needle]:
    """Of a token its signature: the rest is no secret without it."""
    for number, token in enumerate(sorted(tokens)):
        signature = token.rpartition(".")[2]
        yield from needles.octets(f"token {number} for the {where}", from_text(signature))


def any_token(client: KnownClient) -> Needle:
    """All access tokens begin alike, also those of clients whose tokens are not known."""
    head, _, _ = min(client.tokens_for_the_aggregator).partition(".")
    return Needle("somebody's access token", "its head", head.encode())
