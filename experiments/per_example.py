"""Per-example clipped gradients of softmax regression: closed form against torch.func.

    .venv/bin/python -m experiments.per_example

The same function is called both times; wrapping the loss makes it take the general way.
"""

import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from fedperm_client.training.per_example import mean_clipped_gradient

ROUNDS = 5


def general_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(outputs, targets)


def fastest(action: Callable[[], object]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        action()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(1)
    model = nn.Linear(784, 10).double()
    for records in (500, 2000, 4000):
        inputs = torch.rand(records, 784, generator=generator, dtype=torch.float64)
        labels = torch.randint(10, (records,), generator=generator)
        closed = fastest(partial(mean_clipped_gradient, model, inputs, labels, 1.0))
        general = fastest(partial(mean_clipped_gradient, model, inputs, labels, 1.0, general_loss))
        print(
            f"{records:5d} records: closed form {closed * 1e3:7.1f} ms, torch.func "
            f"{general * 1e3:7.1f} ms, {general / closed:5.1f} times"
        )


if __name__ == "__main__":
    main()
