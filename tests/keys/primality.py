"""Miller and Rabin's test, written out: an opinion that owes nothing to gmpy2."""

from random import Random

ROUNDS = 20
"""A composite passes with probability below 4^-20, about 1e-12."""


def is_probable_prime(number: int) -> bool:
    if number < 4:
        return number in (2, 3)
    if number % 2 == 0:
        return False
    randomness = Random(number)
    return all(_passes(number, randomness.randrange(2, number - 1)) for _ in range(ROUNDS))


def _passes(number: int, base: int) -> bool:
    """base^odd is 1, or one of its squarings on the way to base^(number - 1) is -1."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    power = pow(base, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False
