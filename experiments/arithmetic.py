"""What the tricks of the core buy on this machine, as ratios measured in one run.

    .venv/bin/python -m experiments.arithmetic

ADR 5 quotes its output; `multi_exponentiation` in
`fedperm.schemes.paillier` holds the two constants it yields.
"""

import time
from collections.abc import Callable
from random import Random

import gmpy2
from gmpy2 import mpz

from fedperm.randomness import from_operating_system
from fedperm.schemes.paillier.blinding import PublicBlinding
from fedperm.schemes.paillier.multi_exponentiation import batch_invert
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import generate_key
from fedperm_secret.schemes.paillier.storage import public_key_to_phe

ROUNDS = 9
NUMBERS = 2000


def main() -> None:
    randomness = from_operating_system()
    key = generate_key(randomness)
    n, n_squared = key.public_key.n, key.public_key.n_squared
    bases = [mpz(randomness.randrange(1, int(n_squared))) for _ in range(NUMBERS)]
    halves = [base % n for base in bases]
    full, half, split = in_turn(
        lambda: multiply_up(bases, n_squared),
        lambda: multiply_up(halves, n_squared),
        lambda: split_all(bases, n),
    )
    show("multiplication modulo n^2", full / NUMBERS)
    show("half-size multiplication", half / NUMBERS, full / NUMBERS)
    show("splitting one base", split / NUMBERS, full / NUMBERS)

    p, _ = key.factors(SECRET_KEY_ACCESS)
    secret, public = SecretBlinding(key), PublicBlinding(key.public_key)
    phe_key = public_key_to_phe(key.public_key)
    phe_cost, public_cost, fresh_cost, table_cost = in_turn(
        lambda: [phe_key.encrypt(1) for _ in range(4)],
        lambda: [public.draw(randomness) for _ in range(4)],
        lambda: [fresh_residue(p, randomness) for _ in range(8)],
        lambda: [secret.draw(randomness) for _ in range(100)],
    )
    show("python-paillier's encrypt", phe_cost / 4)
    show("blinding factor with n only", public_cost / 4, phe_cost / 4)
    show("with p and q, no tables", fresh_cost / 4, phe_cost / 4)
    show("with p and q and tables", table_cost / 100, phe_cost / 4)


def in_turn(*actions: Callable[[], object]) -> list[float]:
    """The least CPU seconds of each action; they take turns, and a busy machine only slows down."""
    seconds: list[list[float]] = [[] for _ in actions]
    for _ in range(ROUNDS):
        for taken, action in zip(seconds, actions, strict=True):
            start = time.process_time()
            action()
            taken.append(time.process_time() - start)
    return [min(taken) for taken in seconds]


def multiply_up(factors: list[mpz], modulus: mpz) -> mpz:
    product = modulus - 1
    for factor in factors:
        product = product * factor % modulus
    return product


def split_all(bases: list[mpz], n: mpz) -> list[mpz]:
    """The work of `MultiExponentiation._split`."""
    pairs = [gmpy2.f_divmod(base, n) for base in bases]
    inverses = batch_invert([small for _, small in pairs], n)
    return [q * i % n for (q, _), i in zip(pairs, inverses, strict=True)]


def fresh_residue(prime: mpz, randomness: Random) -> mpz:
    """Half of a blinding factor for keys whose primes are not safe."""
    x = mpz(randomness.randrange(1, int(prime)))
    return gmpy2.powmod(x, prime, prime * prime)


def show(what: str, seconds: float, against: float | None = None) -> None:
    ratio = "" if against is None else f"{seconds / against:8.3f} of the first line of its block"
    print(f"{what:32s}{seconds * 1e6:12.2f} us{ratio}")


if __name__ == "__main__":
    main()
