"""How far each example's gradient is scaled so that none passes the norm."""

from collections.abc import Sequence

from torch import Tensor


def clipped(
    norms: Tensor, clip_norm: float, parts: Sequence[Tensor]
) -> tuple[Tensor, Sequence[Tensor]]:
    """Factors of at most 1, and what they are for, one row an example. Examples whose norm is NaN
    or infinite are left out: they count as zero, and 0 times such a number is no number."""
    finite = norms.isfinite()
    if not bool(finite.all()):  # else nothing is copied
        norms, parts = norms[finite], [part[finite] for part in parts]
    return (clip_norm / norms).clamp(max=1.0), parts
