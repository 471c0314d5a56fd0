"""Small classifiers of square grey images."""

from enum import StrEnum

from torch import nn

_CHANNELS = 8, 16


class ModelName(StrEnum):
    LOGISTIC = "logistic"
    MLP = "mlp"
    CNN = "cnn"


def classifier(name: ModelName, *, side: int, classes: int, hidden: int) -> nn.Module:
    """`hidden` is the width of the perceptron's one hidden layer."""
    match name:
        case ModelName.LOGISTIC:
            return nn.Sequential(nn.Flatten(), nn.Linear(side * side, classes))
        case ModelName.MLP:
            return _perceptron(side, classes, hidden)
        case ModelName.CNN:
            return _convolutional(side, classes)


def _perceptron(side: int, classes: int, hidden: int) -> nn.Module:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(side * side, hidden), nn.ReLU(), nn.Linear(hidden, classes)
    )


def _convolutional(side: int, classes: int) -> nn.Module:
    """No batch normalisation: its statistics are no parameters, and show the client's data."""
    first, second = _CHANNELS
    return nn.Sequential(
        nn.Conv2d(1, first, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(first, second, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(second * (side // 4) ** 2, classes),
    )
