"""scikit-learn's digits in the form of MNIST: every pixel three by three, and a dark border."""

import numpy as np
from numpy.typing import NDArray

from fedperm_client.tasks.digits import Digits
from fedperm_client.tasks.images import LabelledImages

_TIMES, _BORDER = 3, 2


class EnlargedDigits(Digits):
    side = 28

    def everybodys(self) -> LabelledImages:
        return _enlarged(super().everybodys())

    def public(self) -> LabelledImages:
        return _enlarged(super().public())


def _enlarged(images: LabelledImages) -> LabelledImages:
    pixels: NDArray[np.float64] = np.kron(images.pixels, np.ones((_TIMES, _TIMES)))
    border = (0, 0), (_BORDER, _BORDER), (_BORDER, _BORDER)
    return LabelledImages(np.pad(pixels, border), images.labels, images.brightest)
