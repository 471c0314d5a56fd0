"""torch.func's refusals in words: it notices what no look at a module's layers can show."""

from collections.abc import Iterator
from contextlib import contextmanager

from fedperm_client.training.errors import PerExampleError

_RANDOM = (
    "the module draws random numbers from torch's global generator",
    "call module.eval(), or remove functional dropout and the like",
)
_WRITES = (
    "the module writes to a buffer or parameter while it computes, outside the gradient",
    "remove the write: only gradients are clipped, noised and sent",
)
_IN_WORDS = {
    "randomness error mode": _RANDOM,
    "would mutate a captured Tensor": _WRITES,
    "`self` not being vmapped": _WRITES,
    "updated in place": _WRITES,
}
"""By what torch's message holds. Any other error is the model's own, and says so itself."""


@contextmanager
def refusals_in_words() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        for part, words in _IN_WORDS.items():
            if part in str(error):
                raise PerExampleError(*words) from error
        raise
