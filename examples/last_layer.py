"""Fine-tuning: only the last layer of a larger model is trained, noised, encrypted and averaged.

    FEDPERM_TASK=examples/last_layer.py:FineTuned

The frozen part stays at the clients, so d is 650 although the model has more than 66,000
parameters. It must be the same everywhere: the run's document holds a hash of it. Here it is drawn
from a fixed seed; with --option backbone=backbone.pt it is a state dict in the data directory, for
example that of a model which was trained on public data.
"""

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn import functional

from fedperm_client.tasks.task import Examples, TaskContext

FEATURES, CLASSES = 64, 10
SEED = 20
TEST_EVERY = 5


class FineTuned:
    def __init__(self, context: TaskContext) -> None:
        self.context = context
        self.backbone = context.options.get("backbone")

    def model(self) -> nn.Module:
        return nn.Sequential(self._backbone(), nn.Linear(FEATURES, CLASSES))

    def training_data(self) -> Examples:
        images, labels = load()
        own = torch.arange(len(labels)) % TEST_EVERY != 0
        part = slice(self.context.shard, None, self.context.shards)
        return Examples(images[own][part], labels[own][part])

    def test_data(self) -> Examples:
        images, labels = load()
        return Examples(images[::TEST_EVERY], labels[::TEST_EVERY])

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return functional.cross_entropy(outputs, targets)

    def _backbone(self) -> nn.Module:
        with torch.random.fork_rng():
            torch.manual_seed(SEED)
            layers = nn.Sequential(
                nn.Conv2d(1, 64, kernel_size=3, padding=1, bias=False),
                nn.Tanh(),
                nn.AvgPool2d(2),
                nn.Flatten(),
                nn.Linear(64 * 4 * 4, FEATURES, bias=False),
                nn.LayerNorm(FEATURES, elementwise_affine=False),
            )
        if self.backbone is not None:
            path = self.context.data_directory / str(self.backbone)
            layers.load_state_dict(torch.load(path, weights_only=True))
        return layers.requires_grad_(requires_grad=False)


def load() -> tuple[Tensor, Tensor]:
    """Digits of 8 x 8 pixels that come with scikit-learn, about 0 on the whole."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16 - 0.3
    return images, torch.tensor(digits.target)
