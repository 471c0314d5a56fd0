"""What a client would train, and its owner may regret."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fedperm_cli.measures import counted

if TYPE_CHECKING:
    from fedperm_client.training.trial import TriedTask

_MANY_PARAMETERS = 100_000
_MANY_SHARED = 0.5


def warnings_of(tried: "TriedTask", parameters: int) -> tuple[str, ...]:
    """`parameters` is d."""
    return (*_of_the_model(tried.unused, parameters), *_of_the_records(tried))


def _of_the_model(unused: tuple[str, ...], parameters: int) -> Iterator[str]:
    if unused:
        yield (
            f"the loss does not depend on {', '.join(unused)}: noise would move what nothing "
            "trains, and it is paid for in every round (remove it, or freeze it: "
            "requires_grad_(False))"
        )
    if parameters > _MANY_PARAMETERS:
        yield (
            f"{parameters:,} parameters are many: cost and noise grow with them (train a part: "
            "see docs/own-models.md)"
        )


def _of_the_records(tried: "TriedTask") -> Iterator[str]:
    """A few equal records prove nothing; where most are public, hardly by chance."""
    from fedperm_client.training.records import count_shared  # noqa: PLC0415 (imports torch)

    shared = 0 if tried.public is None else count_shared(tried.own, tried.public)
    if shared > _MANY_SHARED * len(tried.own):
        yield (
            f"{counted(shared, 'record')} of this part are test records as well: what is reported "
            "on test data is about them, without noise (leave private records out of test_data())"
        )
