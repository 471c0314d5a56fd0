"""Every algorithm on small images of ten kinds: what is learned, and what is reported."""

import pytest
import torch

from experiments.accuracy.__main__ import result_of
from experiments.accuracy.experiment import Outcome, Wish, run
from experiments.accuracy.images import Digits
from experiments.accuracy.setting import DELTA, Algorithm, Recipe, World
from fedperm.errors import FedPermError
from fedperm_cli.presets import HEAVY
from tests.experiments.noisy_images import images

WORLD = World(seed=1)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """As the experiments have it; more only wait for each other here."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def digits():
    return Digits(images(600, seed=1), images(100, seed=2))


def outcome(wish, recipe, digits, rounds=3):
    return run(wish, recipe, digits, WORLD, rounds)


def test_fedavg_learns_and_promises_nothing(digits):
    found = outcome(Wish(Algorithm.FEDAVG), Recipe(0.1, batch_size=16), digits)
    assert found.accuracies[-1] > 90
    assert set(found.privacy) == {"none"}


@pytest.mark.parametrize(
    ("algorithm", "unit"), [(Algorithm.CDP, "participant"), (Algorithm.LDP, "whole_update")]
)
def test_a_gaussian_baseline_reports_its_own_unit(digits, algorithm, unit):
    found = outcome(Wish(algorithm, 4.0), Recipe(0.1, 0.1), digits)
    assert set(found.privacy) == {"accountant", "delta", unit}
    assert 3.99 < found.privacy[unit] <= 4.0
    assert len(found.accuracies) == 3


def test_a_weaker_promise_lets_cdp_learn(digits):
    """Little noise: it is the clipped mean."""
    found = outcome(Wish(Algorithm.CDP, 1e5), Recipe(1.0, 1.0), digits)
    assert found.accuracies[-1] > 90


def test_fedperm_learns_under_little_noise_and_reports_every_unit(digits):
    wish = Wish(Algorithm.FEDPERM, 4.0, HEAVY, "no-shuffle-rdp")
    found = outcome(wish, Recipe(30.0, 0.002, 10.0), digits)
    assert set(found.privacy) == {
        "accountant",
        "delta",
        "paper_unit",
        "permutation_known",
        "whole_update",
        "record",
    }
    assert found.privacy["paper_unit"] <= 4.0 < found.privacy["whole_update"]
    assert found.upload_megabytes > 10
    free = outcome(Wish(Algorithm.FEDPERM, 1e6, HEAVY, "no-shuffle-rdp"), Recipe(1.0, 0.01), digits)
    assert free.accuracies[-1] > 90
    assert isinstance(free.privacy["record"], str)


def test_noise_for_a_record_is_calibrated_to_the_smallest_client(digits):
    wish = Wish(Algorithm.FEDPERM, 2.0, accountant="no-shuffle-rdp", for_record=True)
    found = outcome(wish, Recipe(0.1, 0.01, 10.0), digits, rounds=1)
    assert found.smallest_client == min(len(part) for part in digits.cut(WORLD))
    assert 1.99 < found.privacy["record"] <= 2.0


def test_noise_without_an_amount_is_refused(digits):
    with pytest.raises(FedPermError, match="without an epsilon"):
        outcome(Wish(Algorithm.LDP), Recipe(0.1), digits)


def test_the_same_seed_gives_the_same_figures(digits):
    wish, recipe = Wish(Algorithm.FEDPERM, 4.0, HEAVY, "paper"), Recipe(30.0, 0.002, 10.0)
    assert outcome(wish, recipe, digits, 2) == outcome(wish, recipe, digits, 2)


def test_what_the_command_prints():
    """The least noise and the largest epsilon of all seeds."""
    found = [
        Outcome((10.0, 90.0), 2.0, 700, {"accountant": "paper", "delta": DELTA, "record": 1.0}),
        Outcome((10.0, 92.0), 3.0, 600, {"accountant": "paper", "delta": DELTA, "record": 1.5}),
    ]
    printed = result_of(Wish(Algorithm.FEDPERM, 2.0, for_record=True), [20, 21], found)
    assert printed == {
        "accuracy_mean": 91.0,
        "accuracy_std": pytest.approx(2**0.5),
        "seeds": [20, 21],
        "laplace_scale": 2.0,
        "gaussian_multiplier": None,
        "privacy": {"accountant": "paper", "delta": DELTA, "record": 1.5},
        "by_seed": [
            {
                "seed": 20,
                "accuracy": 90.0,
                "laplace_scale": 2.0,
                "gaussian_multiplier": None,
                "smallest_client": 700,
            },
            {
                "seed": 21,
                "accuracy": 92.0,
                "laplace_scale": 3.0,
                "gaussian_multiplier": None,
                "smallest_client": 600,
            },
        ],
    }


def test_the_command_names_the_noise_of_each_algorithm():
    found = [Outcome((90.0,), 8.2, 700, {"participant": 4.0})]
    gaussian = result_of(Wish(Algorithm.CDP, 4.0), [20], found)
    assert (gaussian["laplace_scale"], gaussian["gaussian_multiplier"]) == (None, 8.2)
    none = result_of(Wish(Algorithm.FEDAVG), [20], [Outcome((90.0,), 0.0, 700, {"none": ""})])
    assert (none["laplace_scale"], none["gaussian_multiplier"]) == (None, None)
