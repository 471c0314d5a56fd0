"""Linear models that do something besides; most must not."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.training.models import CLASSES, FEATURES


class Layered(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(FEATURES, CLASSES)


class Two(Layered):
    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        return self.layer(inputs), inputs


class Detached(Layered):
    def forward(self, inputs: Tensor) -> Tensor:
        return self.layer(inputs).detach()


class Squeezed(Layered):
    """A batch of one loses its axis."""

    def forward(self, inputs: Tensor) -> Tensor:
        return self.layer(inputs).squeeze()


class Standardised(Layered):
    """Statistics of a batch, by hand; a record alone has none."""

    def forward(self, inputs: Tensor) -> Tensor:
        return self.layer((inputs - inputs.mean(0)) / inputs.std(0))


class Masked(Layered):
    """Has an infinite output, which is fine."""

    def forward(self, inputs: Tensor) -> Tensor:
        return functional.pad(self.layer(inputs), (0, 1), value=-torch.inf)


class Deciding(Layered):
    """Looks at the values of its inputs to decide what to compute."""

    def forward(self, inputs: Tensor) -> Tensor:
        return self.layer(inputs if inputs.abs().sum() < 1e9 else -inputs)


class Rooted(Layered):
    """The slope of a root at 0 is infinite, and torch.where makes NaN of it."""

    def forward(self, inputs: Tensor) -> Tensor:
        squares = (0 * self.layer(inputs)).square()
        return self.layer(inputs) + torch.where(squares > 0, squares.sqrt(), 0.0)


class RootedAtRest(Rooted):
    """Single records are computed as in evaluation."""

    def forward(self, inputs: Tensor) -> Tensor:
        return self.layer(inputs) if self.training else super().forward(inputs)


class Counting(Layered):
    """Keeps a number of its own while it is trained."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, inputs: Tensor) -> Tensor:
        self.calls += 1
        return self.layer(inputs)


class Shifted(Layered):
    """Has a constant buffer, which is fine."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("shift", torch.ones(FEATURES))

    def forward(self, inputs: Tensor) -> Tensor:
        return self.layer(inputs + self.shift)


class Recurrent(nn.Module):
    """Takes features one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = nn.LSTM(1, 3, batch_first=True)
        self.layer = nn.Linear(3, CLASSES)

    def forward(self, inputs: Tensor) -> Tensor:
        states, _ = self.memory(inputs.unsqueeze(2), self.first(inputs))
        return self.layer(states[:, -1])

    def first(self, _inputs: Tensor) -> tuple[Tensor, Tensor] | None:
        return None


class Started(Recurrent):
    """Its first state is made of the inputs, which is fine."""

    def first(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        zeros = inputs.new_zeros(1, len(inputs), 3)
        return zeros, zeros
