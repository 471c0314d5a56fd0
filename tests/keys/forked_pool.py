"""A program of its own: fills a pool, forks, and reports what parent and child take.

Forking inside the test runner would copy its threads' locks; this process has only the filler.
"""

import json
import multiprocessing
import sys
from random import Random

from fedperm.randomness import from_operating_system
from fedperm.schemes.paillier.blinding import BlindingPool, PublicBlinding
from fedperm_secret.schemes.paillier.keys import generate_key

FILLED, TAKEN_BY_CHILD = 8, 12


def taken(pool: BlindingPool, count: int) -> dict[str, object]:
    length = len(pool)
    return {"length": length, "factors": [int(factor) for factor in pool.take(count)]}


def main() -> None:
    public_key = generate_key(Random(1), 256, insecure_for_tests=True).public_key
    pool = BlindingPool(PublicBlinding(public_key), from_operating_system())
    with pool.filling(FILLED):
        fork(pool)


def fork(pool: BlindingPool) -> None:
    """While the pool is being filled: its lock may be held at the very moment of the fork."""
    while len(pool) < FILLED:
        pass
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=lambda: answers.put(taken(pool, TAKEN_BY_CHILD)))
    child.start()
    of_child = answers.get()
    child.join()
    json.dump({"child": of_child, "parent": taken(pool, FILLED)}, sys.stdout)


if __name__ == "__main__":
    main()
