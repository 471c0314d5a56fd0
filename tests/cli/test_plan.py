"""`fedperm plan`: counts and bytes to the last one, times from this machine, choices weighed."""

from collections import Counter

import pytest

from fedperm.planner import plan
from fedperm.schemes.paillier.multi_exponentiation import HALF_SIZE_COST, SPLIT_COST
from fedperm.windows import Geometry
from fedperm_cli.average_noise import AverageNoise
from fedperm_cli.plan.choices import Choice, geometries, marked, suggested
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.measuring_keys import measuring_key
from fedperm_secret.schemes.paillier.safe_primes import is_safe_prime
from tests.cli.command_line import SMALL_KEY, bench_report, fedperm, one_object

QUICK = ("--accountant", "no-shuffle-rdp", *SMALL_KEY, "--json")
SMALL = ("--d", "100", "--k1", "8", "--k2", "2", "--clients", "3")


def planned(*arguments: str):
    return one_object("plan", *arguments, *QUICK)


@pytest.fixture(scope="module")
def small():
    return planned(*SMALL, "--laplace-scale", "50.95")


def test_it_counts_what_a_round_makes(small):
    """The same configuration, measured."""
    measured = bench_report(*SMALL, *SMALL_KEY, "--json")
    assert small["counts"]["client_encrypts"] == measured["ciphertexts_per_client"]
    assert small["bytes"]["upload"] == measured["upload_bytes_per_client"]
    assert small["bytes"]["download"] == measured["download_bytes"]
    assert small["bytes"]["aggregator_receives"] == 3 * measured["upload_bytes_per_client"]
    assert small["value_bits"] == measured["value_bits"]
    counted = small["counts"]["fold_multiplications"] / measured["aggregate"]["modmuls"]
    assert 0.8 < counted < 1.2


def test_every_phase_takes_some_time(small):
    assert all(seconds > 0 for seconds in small["seconds"].values())
    assert all(seconds >= 0 for seconds in small["speed"].values())
    assert small["seconds"]["client_encrypt_ahead"] == pytest.approx(
        small["counts"]["client_encrypts"] * small["speed"]["blind"]
    )


def test_it_reports_privacy_in_all_units(small):
    rows = small["privacy"]["rows"]
    assert rows["paper_unit"]["parameters"] == 14
    assert rows["whole_update"]["epsilon"] > rows["paper_unit"]["epsilon"] > 0
    assert rows["record"] is None


def test_the_wanted_cut_is_among_the_choices(small):
    cuts = [(choice["k1"], choice["k2"]) for choice in small["choices"]]
    assert (8, 2) in cuts
    assert len(cuts) > 3
    assert any(choice["best"] for choice in small["choices"])


def test_an_epsilon_becomes_noise_for_every_choice():
    choices = planned("--d", "200", "--clients", "2", "--epsilon", "2")["choices"]
    assert {choice["epsilon"] for choice in choices} == {2.0}
    of_windows = {c["k1"]: c["laplace_scale"] for c in choices if c["k2"] == 1}
    assert of_windows[25] > of_windows[50] > of_windows[100] > of_windows[200]


def test_without_a_k1_it_takes_a_cheap_choice_with_little_noise():
    found = planned("--d", "200", "--clients", "2")
    own = next(c for c in found["choices"] if (c["k1"], c["k2"]) == (found["k1"], found["k2"]))
    assert own["laplace_scale"] == found["laplace_scale"]
    assert own["laplace_scale"] <= 1.5 * min(c["laplace_scale"] for c in found["choices"])


def test_without_noise_there_is_no_privacy():
    found = planned(*SMALL, "--no-noise", "--no-choices")
    assert (found["privacy"], found["average_noise"]) == (None, None)
    assert len(found["choices"]) == 1
    many = (*SMALL, "--k2", "99")
    said = fedperm("plan", *many, *SMALL_KEY, "--no-noise", "--no-choices").stdout
    assert "no epsilon holds" in said
    assert "k2 = 13 (99 asked for, a window has one): 3 clients" in said


def test_people_read_the_same_numbers(small):
    quick = ("--accountant", "no-shuffle-rdp", *SMALL_KEY, "--laplace-scale", "50.95")
    said = fedperm("plan", *SMALL, *quick).stdout
    assert f"{small['counts']['client_encrypts']} ciphertexts" in said
    assert "5. the whole update:" in said
    assert "Pareto-best" in said
    assert " planned " in said
    # 2 sqrt(2) b / sqrt(3) C, and that times sqrt(50) after all rounds
    assert "noise: standard deviation 83.2 C a parameter and round on the average of 3" in said
    assert "after 50 rounds 588.3 C beside 50 C\n" in said
    assert "warning: after all rounds the noise is 11.77 times the furthest" in said
    assert small["average_noise"]["times_movement"] == pytest.approx(11.77, abs=0.005)


@pytest.mark.parametrize(("scale", "drowns"), [(1.73, False), (1.74, True)])
def test_a_warning_is_given_where_noise_is_twice_what_clients_can_move(scale, drowns):
    """2 sqrt(2) b / sqrt(6 * T) against 2, where T = 1: b = sqrt(3)."""
    noise = AverageNoise(scale, clients=6, rounds=1)
    words, warning = noise.words(clip=0.01), noise.warning
    assert "on the average of 6 clients, who move it by at most C = 0.01; after 1 round" in words
    assert bool(warning) == drowns


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--d", "0", "--clients", "3"), "--d is 0"),
        (("--d", "10", "--clients", "0"), "--clients is 0"),
        (("--d", "10", "--clients", "1"), "an average of one client"),
        (("--d", "10", "--clients", "3", "--k2", "2"), "need a k1"),
        (("--d", "10", "--clients", "3", "--no-choices"), "need a k1"),
        ((*SMALL, "--no-noise", "--epsilon", "1"), "contradict each other"),
        ((*SMALL, "--laplace-scale", "1", "--epsilon", "1"), "more than one way"),
        ((*SMALL, "--record-epsilon", "1"), "how the client trains"),
        ((*SMALL, "--accountant", "mine"), "no accountant"),
    ],
)
def test_impossible_plans_are_refused_with_a_hint(arguments, words):
    finished = fedperm("plan", *arguments, *SMALL_KEY)
    assert finished.returncode == 2
    assert words in finished.stderr
    assert "hint: " in finished.stderr


def test_only_real_key_lengths_are_planned_for():
    assert fedperm("plan", *SMALL, "--key-bits", "512").returncode == 2


@pytest.mark.parametrize("key_bits", [2048, 3072, 4096])
def test_the_measuring_keys_are_of_the_kind_that_clients_hold(key_bits, randomness):
    key = measuring_key(key_bits, randomness, insecure_for_tests=False)
    assert key.public_key.key_bits == key_bits
    assert all(is_safe_prime(prime) for prime in key.factors(SECRET_KEY_ACCESS))


def choice(noise: float, seconds: float) -> Choice:
    return Choice(1, 1, 1, noise, 4.0, seconds, upload=1)


def test_the_best_are_those_that_no_other_beats():
    cheap, middle, dear, beaten = choice(9, 1), choice(5, 2), choice(1, 9), choice(6, 3)
    assert [one.best for one in marked([cheap, middle, dear, beaten])] == [True, True, True, False]


def test_the_suggestion_is_the_cheapest_with_little_noise():
    assert suggested([choice(9, 1), choice(1.4, 4), choice(1, 9)]) == choice(1.4, 4)


@pytest.mark.parametrize(
    ("d", "k1s"),
    [
        (6, [6, 25]),
        (100, [25, 50, 100, 200]),
        (150, [25, 50, 100, 150, 200]),
        (7850, [25, 50, 100, 200, 400, 800, 1600]),
    ],
)
def test_windows_of_a_small_model_reach_to_the_whole_of_it_and_one_further(d, k1s):
    assert [g.k1 for g in geometries(d, None) if g.k2 == 1] == k1s
    assert all(g.k2 <= g.windows for g in geometries(d, None))


def test_a_wanted_cut_is_weighed_whatever_it_is():
    assert (5, 1) in [(g.k1, g.k2) for g in geometries(6, Geometry(6, 5, 1))]


def test_a_folds_multiplications_weigh_what_they_cost():
    layout = plan(d=9, k1=3, k2=1, clients=2).layout
    counts = Counter(modmuls=10, half_size_modmuls=4, split_bases=2)
    assert layout.weight(counts) == pytest.approx(6 + 4 * HALF_SIZE_COST + 2 * SPLIT_COST)


def test_more_processes_cut_a_fold_finer():
    layout = plan(d=7850, k1=400, k2=1, clients=15, value_bits=11).layout
    assert layout.costs(1).fold["modmuls"] == pytest.approx(layout.modmuls, rel=0.01)
    assert layout.costs(8).fold_weight > layout.costs(1).fold_weight
