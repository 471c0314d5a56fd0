"""The client's own limits against a run's document."""

from dataclasses import replace
from typing import Any

import pytest

from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.record_level import LocalTraining, RecordRelease, record_level
from fedperm.privacy.registry import DEFAULT, NO_SHUFFLE
from fedperm.run_document import RunDocument
from fedperm.windows import Geometry
from fedperm_client.ceilings import Ceilings
from fedperm_client.errors import CeilingError
from fedperm_client.settings import ClientSettings
from tests.client.documents import LAPLACE_SCALE, document, rounds

GENEROUS = Ceilings(
    max_epsilon=1000.0,
    delta=1e-5,
    accountant="default",
    max_record_epsilon=None,
    min_laplace_scale=0.5,
    min_key_bits=512,
    min_contributors=2,
    min_window=2,
    insecure_for_tests=True,
)
NO_NOISE = {"clip": 0.1, "laplace_scale": 0.0}
EVENT = ShuffledLaplace(Geometry(650, 130, 1), LAPLACE_SCALE)
PROTECTED = {"learning_rate": 0.5, "record_clip_norm": 1.0, "min_records": 200}


def refusal_of(ceilings: Ceilings, **changes) -> str:
    with pytest.raises(CeilingError) as refusal:
        ceilings.check(document(**changes))
    assert "change them yourself: FEDPERM_CLIENT_ and the name in brackets" in refusal.value.hint
    return refusal.value.message


def test_a_run_within_the_limits_is_accepted_with_its_report():
    report = GENEROUS.check(document())
    assert report.rows.paper_unit.parameters == 5
    assert report.rows.paper_unit.epsilon <= 1000


@pytest.mark.parametrize(
    ("name", "accountant"), [("default", DEFAULT), ("no-shuffle-rdp", NO_SHUFFLE)]
)
def test_the_limit_is_on_the_whole_run_by_the_clients_own_accountant_and_delta(name, accountant):
    """Whatever accountant and delta the document names."""
    whole = accountant.guarantee(Rounds(EVENT, 3), 1e-6).epsilon
    own = replace(GENEROUS, accountant=name, delta=1e-6)
    flattering = {
        "clip": 0.1,
        "laplace_scale": LAPLACE_SCALE,
        "accountant": "blanket-pld",
        "delta": 0.5,
    }
    replace(own, max_epsilon=whole * 1.001).check(document(noise=flattering))
    message = refusal_of(replace(own, max_epsilon=whole * 0.999), noise=flattering)
    assert f"at delta 1e-06 by {name}" in message


def test_more_rounds_cost_more():
    rounds = document().rounds.model_dump() | {"count": 4}
    three = DEFAULT.guarantee(Rounds(EVENT, 3), 1e-5).epsilon
    assert "its rounds cost epsilon" in refusal_of(
        replace(GENEROUS, max_epsilon=three * 1.001), rounds=rounds
    )


def test_a_record_has_a_limit_of_its_own():
    training = LocalTraining(learning_rate=0.5, clip=0.1, records=200, clip_norm=1.0)
    known = record_level(training, RecordRelease(LAPLACE_SCALE, 3), 1e-5).epsilon
    replace(GENEROUS, max_record_epsilon=known * 1.001).check(document(training=PROTECTED))
    strict = replace(GENEROUS, max_record_epsilon=known * 0.999)
    assert "it costs a record epsilon" in refusal_of(strict, training=PROTECTED)


def test_a_run_without_a_bound_for_records_is_refused_by_whoever_wants_one():
    message = refusal_of(replace(GENEROUS, max_record_epsilon=10.0))
    assert "a record has no bound: gradients are not clipped" in message


RECIPE = {"noise": {"clip": 0.1, "laplace_scale": 0.717}, "shuffle": {"k1": 130, "k2": 5}}
SHAPED = {"noise": {"clip": 0.1, "laplace_scale": 0.3}, "shuffle": {"k1": 650, "k2": 1}}
"""Of one model with 650 parameters. In 20 rounds the first costs epsilon 8.12 in the paper's unit,
and the second, which has 2.4 times less noise, 5.79: its unit is another."""
OF_A_RECORD = {"learning_rate": 3.0, "record_clip_norm": 2.0, "min_records": 246}
UNPROTECTED = {"learning_rate": 3.0}


def twenty_rounds(training: dict[str, float], shape: dict[str, Any]) -> RunDocument:
    asked = rounds(count=20, clients_per_round=3, start_with=3, min_contributors=3)
    return document(training=training, rounds=asked, **shape)


def stock(**settings: Any) -> Ceilings:
    """Of an owner who set a budget and no more than this."""
    addresses = {"keyserver_url": "http://key-server", "aggregator_url": "http://aggregator"}
    names = {"run": "demo", "key": "main", "state_directory": "state", "max_epsilon": 8.2}
    short_keys = {"min_key_bits": 512, "insecure_for_tests": True}
    return ClientSettings(**(addresses | names | short_keys | settings)).ceilings


def test_the_units_shape_is_the_operators_and_the_noise_is_not():
    """The shaped run is the better one in the paper's unit, and far worse for a record."""
    assert "it costs a record epsilon 23.05, at most 8" in refusal_by(stock(), OF_A_RECORD, SHAPED)
    recipe = stock().check(twenty_rounds(OF_A_RECORD, RECIPE))
    shaped = stock().report(twenty_rounds(OF_A_RECORD, SHAPED))
    assert recipe.rows.paper_unit.epsilon == pytest.approx(8.12, abs=0.01)
    assert shaped.rows.paper_unit.epsilon == pytest.approx(5.79, abs=0.01)
    assert recipe.rows.record.epsilon == pytest.approx(7.75, abs=0.01)


def test_without_a_guarantee_for_records_the_noise_has_a_floor():
    accepting = stock(accept_no_record_guarantee=True)
    assert accepting.check(twenty_rounds(UNPROTECTED, RECIPE)) is not None
    assert "b = 0.3, at least 0.5 is wanted" in refusal_by(accepting, UNPROTECTED, SHAPED)
    lower = stock(accept_no_record_guarantee=True, min_laplace_scale=0.3)
    assert lower.check(twenty_rounds(UNPROTECTED, SHAPED)) is not None


def refusal_by(ceilings: Ceilings, training: dict[str, float], shape: dict[str, Any]) -> str:
    with pytest.raises(CeilingError) as refusal:
        ceilings.check(twenty_rounds(training, shape))
    return refusal.value.message


def test_a_run_without_noise_is_for_those_who_accept_it():
    accepting = replace(GENEROUS, max_epsilon=None)
    assert accepting.check(document(noise=NO_NOISE)) is None
    assert accepting.check(document()) is not None
    assert "it has no noise" in refusal_of(GENEROUS, noise=NO_NOISE)
    assert "it has no noise" in refusal_of(
        replace(accepting, max_record_epsilon=1.0), noise=NO_NOISE
    )


@pytest.mark.parametrize(
    ("stricter", "problem"),
    [
        ({"insecure_for_tests": False}, "it is marked insecure_for_tests"),
        ({"min_key_bits": 2048}, "its key has 512 bits, at least 2048 are wanted"),
        ({"min_contributors": 3}, r"averages of 2 client\(s\), at least 3 are wanted"),
        ({"min_window": 131}, "shuffles windows of 130, at least 131 are wanted"),
    ],
)
def test_each_limit_is_kept(stricter, problem):
    with pytest.raises(CeilingError, match=problem):
        replace(GENEROUS, **stricter).check(document())


def test_all_that_is_wrong_is_said_at_once():
    strict = replace(
        GENEROUS,
        max_epsilon=0.001,
        max_record_epsilon=1.0,
        min_key_bits=3072,
        min_contributors=9,
        min_window=999,
        insecure_for_tests=False,
    )
    assert refusal_of(strict).count(";") == 5


@pytest.mark.parametrize("grid", [100, 8])
def test_noise_that_cannot_be_counted_is_refused_with_all_else(grid):
    """A grid that is no power of two, and one that is too coarse for the bounds."""
    strict = replace(GENEROUS, min_contributors=9)
    noise = {"clip": 0.1, "laplace_scale": LAPLACE_SCALE, "grid": grid}
    message = refusal_of(strict, noise=noise)
    assert "its privacy cannot be counted" in message
    assert "at least 9 are wanted" in message


def test_the_budget_of_the_ledger_is_the_ceiling():
    budget = GENEROUS.budget
    assert (budget.epsilon, budget.delta, budget.accountant) == (1000.0, 1e-5, "default")
    assert replace(GENEROUS, max_epsilon=None).budget is None
