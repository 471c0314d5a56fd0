"""The privacy blanket of Balle, Bell, Gascón, Nissim (CRYPTO 2019, arXiv:1903.02837).

n messages of an epsilon_0-LDP randomizer R are shuffled. Each is, with probability gamma, drawn
from the blanket omega = inf_x R(x) / gamma, which says nothing. With L = (R(x) - e^eps R(x'))/omega
at a point of omega, Lemma 5.3 is

    delta(eps) <= E[ (L_1 + ... + L_m)_+ ] / (gamma n),   m ~ Binomial(n, gamma).

The concentration bounds below need only gamma, the largest L, its range and its second moment.
"""

from dataclasses import dataclass, replace
from math import exp, expm1, log1p

from fedperm.privacy.events import COARSEST_GRID


@dataclass(frozen=True)
class BlanketFacts:
    """What the bounds know of a randomizer at one eps: L and its blanket probability gamma."""

    gamma: float
    largest: float
    spread: float
    second_moment: float


def laplace_facts(epsilon: float, epsilon_0: float) -> BlanketFacts:
    """1-D Laplace on [0, 1] (Section 5.3): gamma = e^(-epsilon_0/2), all four exact."""
    half, full = exp(epsilon_0 / 2), exp(-epsilon_0)
    return BlanketFacts(
        gamma=1 / half,
        largest=-half * expm1(epsilon - epsilon_0),
        spread=(exp(epsilon) + 1) * (half - 1 / half),
        second_moment=(exp(2 * epsilon) + 1) * (2 * half + full) / 3
        - 2 * exp(epsilon) * (2 / half - full),
    )


def integer_laplace_facts(epsilon: float, epsilon_0: float) -> BlanketFacts:
    """The same for integer noise on the coarsest grid: only the second moment differs.

    Under the blanket the larger of the two log ratios is 2 j epsilon_0/N with probability
    proportional to q^j, q = e^(-epsilon_0/N), all j from N/2 on together; the other one is 0.
    """
    q = exp(-epsilon_0 / COARSEST_GRID)
    tops = [exp(2 * j * epsilon_0 / COARSEST_GRID) for j in range(COARSEST_GRID // 2 + 1)]
    masses = [(1 - q) / (1 + q) * q**j * (2 if j else 1) for j in range(COARSEST_GRID // 2)]
    masses.append(2 * q ** (COARSEST_GRID // 2) / (1 + q))
    mean = sum(mass * top for mass, top in zip(masses, tops, strict=True))
    square = sum(mass * top * top for mass, top in zip(masses, tops, strict=True))
    moment = (exp(2 * epsilon) + 1) * (1 + square) / 2 - 2 * exp(epsilon) * mean
    return replace(laplace_facts(epsilon, epsilon_0), second_moment=exp(-epsilon_0) * moment)


def generic_facts(epsilon: float, epsilon_0: float) -> BlanketFacts:
    """Any epsilon_0-LDP randomizer (Lemma 5.2): e^(-epsilon_0) <= gamma <= 1."""
    grow = exp(epsilon_0)
    return BlanketFacts(
        gamma=1 / grow,
        largest=-grow * expm1(epsilon - 2 * epsilon_0),
        spread=(exp(epsilon) + 1) * (grow - 1 / grow),
        second_moment=grow * (exp(2 * epsilon) + 1) - 2 * exp(epsilon - 3 * epsilon_0),
    )


def hoeffding(facts: BlanketFacts, epsilon: float, n: int) -> float:
    """Hoeffding: E[(sum)_+] <= spread^2/(4 a) e^(-2 m a^2/spread^2), averaged over m.

    a = -E[L] = e^eps - 1. The mean over m ~ Binomial(n, gamma) of z^m is (1 - gamma + gamma z)^n.
    """
    a = expm1(epsilon)
    exponent = expm1(-2 * (a / facts.spread) ** 2)
    return facts.spread**2 / (4 * a * facts.gamma * n) * exp(n * log1p(facts.gamma * exponent))


def bennett(facts: BlanketFacts, epsilon: float, n: int) -> float:
    """Bennett: E[(sum)_+] <= (b/log(1+u)) e^(-m c phi(u)/b^2), u = a b/c, averaged over m >= 1.

    b is the largest L, c its second moment, phi(u) = (1+u) log(1+u) - u.
    """
    a, b, c = expm1(epsilon), facts.largest, facts.second_moment
    u = a * b / c
    phi = max(0.0, (1 + u) * log1p(u) - u)
    z = exp(-c / b**2 * phi)
    mean = exp(n * log1p(facts.gamma * (z - 1))) - exp(n * log1p(-facts.gamma))
    return b / log1p(u) * mean / (facts.gamma * n)
