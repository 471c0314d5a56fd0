"""Handwritten digits of 8 x 8 pixels that come with scikit-learn: nothing to download."""

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from fedperm_client.tasks.images import ImageTask, LabelledImages

_TEST_EVERY = 5
"""Every fifth image is public test data; neighbours were written by the same hand."""


class Digits(ImageTask):
    side = 8

    def everybodys(self) -> LabelledImages:
        images = _all()
        return images.only(~_is_public(len(images.labels)))

    def public(self) -> LabelledImages:
        images = _all()
        return images.only(_is_public(len(images.labels)))


def _all() -> LabelledImages:
    bunch = load_digits()
    return LabelledImages(bunch.images, bunch.target, brightest=16)


def _is_public(count: int) -> NDArray[np.bool_]:
    public: NDArray[np.bool_] = np.arange(count) % _TEST_EVERY == 0
    return public
