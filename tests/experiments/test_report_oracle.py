"""What answers give of a secret, worked by hand; and that the pages hold what was measured."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from experiments.report_oracle.__main__ import RESULT
from experiments.report_oracle.information import (
    bits_of_answers,
    bits_of_sampled_answers,
    bits_of_shuffled_values,
)
from experiments.report_oracle.measured import Figures

FIGURES = Figures.model_validate_json(RESULT.read_text())
THREATS = Path(__file__).parents[2] / "docs" / "threat-model.md"


@pytest.mark.parametrize(
    ("answers", "bits"), [("aaaa", 0), ("abcd", 2), ("aabb", 1), ("aaab", 0.8112781244591328)]
)
def test_bits_are_the_entropy_of_the_answer(answers, bits):
    assert bits_of_answers(answers) == pytest.approx(bits)


def test_a_sample_without_a_repetition_lets_all_bits_pass_and_one_answer_none():
    assert bits_of_sampled_answers("abcd", 1024) == pytest.approx(10)
    assert bits_of_sampled_answers("aaaa", 1024) == pytest.approx(0)


def shuffled_bits(means: np.ndarray, scale: float) -> float:
    return bits_of_shuffled_values(means, scale, 400, np.random.default_rng(1))


def test_values_that_are_only_in_another_order_tell_nothing():
    """Every secret has the same values in a window: after the shuffle all are alike."""
    means = np.array([[np.roll([0.0, 0.2, 0.5, 1.0], secret)] for secret in range(4)])
    assert shuffled_bits(means, 0.05) == pytest.approx(0, abs=1e-9)


def test_values_far_apart_tell_everything_and_close_ones_little():
    means = np.array([[[secret / 3] * 4] for secret in range(4)])
    assert shuffled_bits(means, 0.01) == pytest.approx(2, abs=0.01)
    assert 0 <= shuffled_bits(means, 20.0) < 0.05


def test_the_committed_figures_are_possible_and_say_what_the_pages_say():
    assert FIGURES.sealed == 0
    assert FIGURES.whole == pytest.approx(math.log2(math.factorial(FIGURES.positions)))
    assert 0 < FIGURES.accuracy <= FIGURES.loss[1] <= FIGURES.one_place + 1e-9
    assert 0 < FIGURES.next_uploads < FIGURES.one_place
    page = THREATS.read_text()
    assert f"learns {FIGURES.next_uploads:.1f} of the {FIGURES.one_place:.1f} bits" in page
    assert f"of {FIGURES.whole:.0f} bits in a pattern" in page
    (least, most) = re.findall(r"in the clear (\d+) to (\d+) bits", page)[0]
    assert (int(least), int(most)) == (round(FIGURES.loss[1]), round(FIGURES.loss[3]))
