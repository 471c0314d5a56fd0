"""Attacks and bounds: what passes, what is cut, what clients refuse."""

from dataclasses import replace
from functools import cache
from random import Random

import numpy as np
import pytest

from experiments.accuracy.fedperm import step as honest_step
from experiments.accuracy.images import Given
from experiments.accuracy.setting import CLIENTS
from experiments.robustness.experiment import stage
from experiments.robustness.fedavg import FedAvg, little
from experiments.robustness.fedperm import FedPerm, document_for
from experiments.robustness.malice import Attacker, Knowledge
from experiments.robustness.measured import measurements
from experiments.robustness.rules import clipped_mean, median, multi_krum, trimmed_mean
from experiments.robustness.scene import Deal, scene_of
from experiments.robustness.server import RefusedAverageError, Upload, step
from experiments.robustness.setting import SEEDS, TARGET, Attack, Case, Defence, System, cases
from experiments.robustness.shared_noise import Noisemaker
from experiments.robustness.training import ClippedSteps, SgdSteps
from fedperm.privacy.release import noise_of, promise_of
from fedperm_cli.presets import LIGHT
from fedperm_client.preparation import Preparation
from fedperm_client.training.learner import Learner
from fedperm_client.training.parameters import load
from fedperm_client.training.sgd import LocalSgd
from tests.experiments.enlarged_digits import EnlargedDigits
from tests.tasks.contexts import context

SCALE = 2.0
KNOWN = Knowledge(
    own=np.random.default_rng(1).normal(0, 0.001, LIGHT.d),
    shared=np.random.default_rng(2).normal(0, 0.001, LIGHT.d),
    attackers=3,
    clients=CLIENTS,
)


@cache
def deal() -> Deal:
    task = EnlargedDigits(context())
    return Deal(scene_of(task.everybodys(), task.public()), seed=5)


def document(defence: Defence, system: System = System.LIGHT, scale: float = SCALE):
    return document_for(system, LIGHT, scale, 1, defence)


def attacker(defence: Defence) -> Attacker:
    content = document(defence)
    return Attacker(content, Preparation.of(content, noise_of(content), Random(3)))


def honest_uploads(content, count: int = CLIENTS) -> list[Upload]:
    preparation = Preparation.of(content, noise_of(content), Random(4))
    return [Upload(preparation.randomize(KNOWN.own)) for _ in range(count)]


def test_honest_uploads_are_averaged_as_by_the_simulation():
    content = document(Defence.CENTRED)
    uploads = honest_uploads(content)
    expected = honest_step(content, [upload.values for upload in uploads])
    assert np.array_equal(step(content, uploads), expected)


@pytest.mark.parametrize("defence", [Defence.CENTRED, Defence.PAPER])
@pytest.mark.parametrize(
    ("attack", "cut"),
    [
        (Attack.FLIP, False),
        (Attack.FLIP_100, True),
        (Attack.NOISE, True),
        (Attack.UNNOISED, False),
        (Attack.ARRANGED, False),
        (Attack.MASKS_10, False),
        (Attack.MASKS_1000, False),
    ],
)
def test_what_a_bound_cuts(defence, attack, cut):
    content = document(defence)
    upload = attacker(defence).upload(attack, KNOWN)
    bounded = content.bound.apply(upload.values, content.plan.fixed_point)
    assert bounded.was_bounded is cut


@pytest.mark.parametrize("defence", [Defence.CENTRED, Defence.PAPER])
def test_an_unnoised_attacker_uses_all_that_the_bound_leaves(defence):
    content = document(defence)
    upload = attacker(defence).upload(Attack.UNNOISED, KNOWN)
    bounded = content.bound.apply(upload.values, content.plan.fixed_point)
    assert 0.99 * content.bound.limit < bounded.norm_before <= content.bound.limit


@pytest.mark.parametrize(("attack", "times"), [(Attack.MASKS_10, 10), (Attack.MASKS_1000, 1000)])
def test_forged_masks_pass_every_check_and_multiply_what_is_sent(attack, times):
    content = document(Defence.CENTRED)
    forger = attacker(Defence.CENTRED)
    forged = [forger.upload(attack, KNOWN) for _ in range(KNOWN.attackers)]
    plain = [Upload(upload.values) for upload in forged]
    honest = honest_uploads(content, CLIENTS - KNOWN.attackers)
    nothing = [Upload(np.full_like(honest[0].values, 1024))] * KNOWN.attackers
    without = step(content, honest + nothing)
    pulled, pulled_plainly = (step(content, honest + some) - without for some in (forged, plain))
    assert np.allclose(pulled, times * pulled_plainly)
    assert pulled @ KNOWN.shared < 0


@pytest.mark.parametrize("defence", [Defence.CENTRED, Defence.NONE])
def test_clients_refuse_a_forger_who_does_not_hold_back(defence):
    content = document(defence)
    forged = replace(attacker(defence).upload(Attack.UNNOISED, KNOWN), factor=1000)
    with pytest.raises(RefusedAverageError):
        step(content, [*honest_uploads(content, CLIENTS - 1), forged])


def test_all_cases_have_the_noise_of_the_round_and_every_round_its_own():
    maker = Noisemaker(document(Defence.CENTRED), "3")
    first, again = (maker.preparation().randomize(KNOWN.own) for _ in range(2))
    maker.next_round()
    later = maker.preparation().randomize(KNOWN.own)
    assert np.array_equal(first, again)
    assert np.mean(first == later) < 0.1


def test_stacked_training_is_the_products():
    models = np.random.default_rng(6).normal(0, 0.05, (2, LIGHT.d))
    own = deal().own(0)
    content = document(Defence.CENTRED)
    learner = Learner(Given(own), content, promise_of(content))
    stacked = ClippedSteps(own, System.LIGHT.recipe).movements(models)
    for model, movement in zip(models, stacked, strict=True):
        expected = learner.update(model, Random(0))
        assert np.allclose(movement, expected, rtol=1e-3, atol=1e-5)


def test_stacked_batches_are_the_products():
    models = np.random.default_rng(6).normal(0, 0.05, (2, LIGHT.d))
    own, recipe = deal().own(0), System.FEDAVG.recipe
    stacked = SgdSteps(own, recipe, Random(7)).movements(models)
    module = Given(own).model()
    sgd = LocalSgd(recipe.learning_rate, recipe.local_epochs, recipe.batch_size, Given.loss)
    for model, movement in zip(models, stacked, strict=True):
        load(module, model)
        assert np.allclose(movement, sgd.update(module, own, Random(7)), rtol=1e-3, atol=1e-5)


def test_attackers_change_their_data_and_nobody_elses():
    own, poisoned = deal().own(1), deal().poisoned(1)
    assert len(poisoned) == 2 * len(own)
    assert (poisoned.inputs[: len(own)] == own.inputs).all()
    assert (poisoned.targets[len(own) :] == TARGET).all()
    assert (poisoned.inputs[len(own) :] != own.inputs).flatten(1).any(1).all()
    assert (deal().mislabelled(1).targets == 9 - own.targets).all()


def test_rules_leave_out_one_who_stands_apart():
    updates = [np.array([x, -x]) for x in (1.0, 2.0, 3.0, 4.0, 1000.0)]
    assert median(updates, 1).tolist() == [3.0, -3.0]
    assert trimmed_mean(updates, 1).tolist() == [3.0, -3.0]
    assert multi_krum(updates, 1).tolist() == [2.5, -2.5]
    assert clipped_mean(updates, 1).tolist() == [2.4, -2.4]


def test_a_clipped_mean_counts_clients_who_send_nothing():
    updates = [np.array([x, -x]) for x in (0.0, 2.0, 4.0)]
    assert clipped_mean(updates, 1).tolist() == [4 / 3, -4 / 3]


def test_a_directed_attack_within_the_bound_undoes_what_clients_learn():
    content = document(Defence.CENTRED, scale=0.05)
    game = FedPerm(deal(), System.LIGHT, content, rounds=3)
    cases = [Case(Attack.NOBODY, 0), Case(Attack.NOISE, 3), Case(Attack.UNNOISED, 10)]
    nobody, noise, unnoised = game.play(cases)
    assert nobody.accuracy > 60
    assert noise.accuracy > 60
    assert unnoised.accuracy < 15


def test_fedavg_falls_without_a_rule_and_stands_with_the_median():
    cases = [Case(Attack.NOBODY, 0), Case(Attack.FLIP_100, 3), Case(Attack.SILENT, 3)]
    nobody, flipped, silent = FedAvg(deal(), Defence.NONE, LIGHT.d, rounds=8).play(cases)
    _, withstood, _ = FedAvg(deal(), Defence.MEDIAN, LIGHT.d, rounds=8).play(cases)
    assert nobody.accuracy > 70
    assert nobody.accuracy > silent.accuracy > 60
    assert flipped.accuracy < 30
    assert withstood.accuracy > 70


@pytest.mark.parametrize(
    "planned",
    [planned for planned in measurements(quick=False) if planned.seed == SEEDS[0]],
    ids=lambda planned: f"{planned.system}-{planned.defence}",
)
def test_every_attack_that_is_planned_can_be_played(planned):
    played = cases(planned.system, planned.malicious)
    scores = stage(planned.system, planned.defence, deal(), rounds=1).system.play(played)
    assert len(scores) == len(played)
    assert all(0 <= score.accuracy <= 100 for score in scores)


def test_a_little_is_within_what_honest_clients_differ_by():
    """Of 15 clients 5 attack: 3 of the 10 honest must be outvoted, which 0.52 deviations do."""
    honest = np.random.default_rng(1).normal(3.0, 2.0, (10, 4))
    sent = little(honest, 5)
    assert np.allclose((honest.mean(axis=0) - sent) / honest.std(axis=0), 0.5244, atol=1e-4)


def test_a_name_is_given_once():
    names = [measurement.name for measurement in measurements(quick=False)]
    assert len(names) == len(set(names)) == len(SEEDS) * (3 + 3 + 5)
