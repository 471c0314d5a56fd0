"""A step and the guarantee it is taken for: one statement of lr, G and m."""

from dataclasses import replace

import numpy as np
import pytest

from fedperm.errors import PreconditionError
from fedperm.privacy.record_level import LocalTraining
from fedperm_client.training.per_example import ClippedStep, mean_clipped_gradient
from tests.training.models import batch, filled, linear

PROMISED = LocalTraining(learning_rate=0.5, clip=0.1, records=8, clip_norm=0.3)


def test_the_learning_rate_and_the_clip_are_the_promised_ones():
    module, data = filled(linear(bias=True), seed=1), batch(8, seed=2)
    expected = -0.5 * mean_clipped_gradient(module, *data, 0.3)
    np.testing.assert_array_equal(ClippedStep(PROMISED).update(module, *data), expected)


def test_fewer_records_than_promised_are_refused_more_are_not():
    step, module = ClippedStep(PROMISED), filled(linear(bias=True), seed=1)
    with pytest.raises(PreconditionError, match=r"7 records, but .* at least 8") as refusal:
        step.update(module, *batch(7, seed=2))
    assert "smallest client" in refusal.value.hint
    step.update(module, *batch(9, seed=2))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"clip_norm": None}, "not clipped per example"),
        ({"local_steps": 2}, "2 local steps"),
        ({"full_batch": False}, "minibatch"),
    ],
)
def test_a_step_is_not_taken_for_training_without_a_guarantee(change, reason):
    with pytest.raises(PreconditionError, match=reason):
        ClippedStep(replace(PROMISED, **change))
