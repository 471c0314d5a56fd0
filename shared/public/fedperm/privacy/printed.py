"""How an epsilon is printed."""

from decimal import ROUND_CEILING, Context, Decimal

_FOUR_DIGITS = Context(prec=4, rounding=ROUND_CEILING)


def printed(epsilon: float) -> str:
    """Never less than it is: rounded up to four digits, without an exponent one could miss."""
    exact = Decimal(str(epsilon))
    if exact >= 1000:
        return f"{exact.to_integral_value(ROUND_CEILING):,f}"
    return f"{_FOUR_DIGITS.plus(exact).normalize():,f}"
