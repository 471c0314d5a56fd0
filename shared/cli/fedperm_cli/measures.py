"""Numbers with their units, for people."""

import time

_BYTES = ("bytes", "kB", "MB", "GB", "TB")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400

UNKNOWN = "-"


def as_bytes(count: float) -> str:
    """Powers of a thousand, as networks count."""
    unit = 0
    while count >= 999.5 and unit < len(_BYTES) - 1:
        count, unit = count / 1000, unit + 1
    return f"{count:.0f} {_BYTES[unit]}" if unit == 0 else f"{count:.3g} {_BYTES[unit]}"


def as_seconds(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * _HOUR:
        return f"{seconds / _MINUTE:.1f} min"
    return f"{seconds / _HOUR:.1f} h" if seconds < 2 * _DAY else f"{seconds / _DAY:,.1f} days"


def as_time(posix_seconds: float) -> str:
    """On the clock of whoever reads it."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(posix_seconds))


def as_share(share: float | None) -> str:
    return UNKNOWN if share is None else f"{share:.1%}"


def counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
