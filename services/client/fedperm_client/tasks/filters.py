"""Fixed filters of images, one image at a time: no record touches another's input, so whatever is
promised for a record still holds. They keep the number of inputs, and with it d.

`orientations` says how strongly edges of eight directions run through cells of 4 x 4 pixels
(histograms of oriented gradients: Dalal, Triggs 2005), and says it twice. The noise of a parameter
does not depend on what it is for: two parameters for one feature have half the noise between them.
`fine-orientations` has sixteen directions and says each once.
"""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from fedperm_client.errors import TaskError

Images = NDArray[np.float32]
"""(images, side, side), 0 .. 1."""

_CELL = 4
_IMAGES_AT_ONCE = 4096
_FLAT = 1e-6
"""Added to the spread of an image's features: one without edges stays 0."""


class FilterName(StrEnum):
    NONE = "none"
    ORIENTATIONS = "orientations"
    FINE_ORIENTATIONS = "fine-orientations"


_DIRECTIONS = {FilterName.ORIENTATIONS: 8, FilterName.FINE_ORIENTATIONS: 16}


def filtered(images: Images, name: FilterName) -> Images:
    """As many numbers an image as before."""
    if name is FilterName.NONE:
        return images
    side = images.shape[1]
    if side % _CELL:
        raise TaskError(
            f"images of {side} x {side} pixels have no whole cells of {_CELL}",
            "use the filter none, or other images",
        )
    parts = [
        _orientations(images[start : start + _IMAGES_AT_ONCE], _DIRECTIONS[name])
        for start in range(0, len(images), _IMAGES_AT_ONCE)
    ]
    return np.concatenate(parts).reshape(images.shape)


def _orientations(images: Images, directions: int) -> Images:
    """As often as they fit: a cell has as many pixels as there are directions, or twice as many."""
    features = np.sqrt(_histograms(images, directions)).reshape(len(images), -1)
    features -= features.mean(axis=1, keepdims=True)
    features /= features.std(axis=1, keepdims=True) + np.float32(_FLAT)
    return np.tile(features, (1, _CELL * _CELL // directions))


def _histograms(images: Images, directions: int) -> Images:
    """(images, directions, cells, cells). An edge counts for the two nearest directions and the
    four nearest cells, the more the nearer: small shifts of a stroke change little."""
    across, down = _slopes(images)
    strength = np.hypot(across, down)
    turn = (np.arctan2(down, across) / (2 * np.pi) % 1 * directions).astype(np.float32)
    weights = _cell_weights(images.shape[1])
    return np.stack(
        [
            weights.T @ (strength * _nearness(turn, direction, directions)) @ weights
            for direction in range(directions)
        ],
        axis=1,
    )


def _slopes(images: Images) -> tuple[Images, Images]:
    across, down = np.zeros_like(images), np.zeros_like(images)
    across[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    down[:, 1:-1] = images[:, 2:] - images[:, :-2]
    return across, down


def _nearness(turn: Images, direction: int, directions: int) -> Images:
    """1 at the direction, falling to 0 at its neighbours, around the circle."""
    apart = np.abs(turn - np.float32(direction))
    nearness: Images = np.maximum(0, 1 - np.minimum(apart, directions - apart))
    return nearness


def _cell_weights(side: int) -> NDArray[np.float32]:
    """(pixels, cells): 1 at a cell's centre, falling to 0 at its neighbours' centres."""
    cells = side // _CELL
    place = (np.arange(side) + 0.5) / _CELL - 0.5
    apart = np.abs(place[:, None] - np.arange(cells))
    weights: NDArray[np.float32] = np.maximum(0, 1 - apart).astype(np.float32)
    return weights
