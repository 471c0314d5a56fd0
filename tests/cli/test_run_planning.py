"""From options to a run's document: whatever is built is possible, and keeps the epsilon asked."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedperm.errors import FedPermError, KeyStrengthError, ParameterError
from fedperm.norm_bound import NormForm, honest_limit
from fedperm.planner import plan
from fedperm.privacy.calibration import guarantee
from fedperm.privacy.record_level import NoRecordBound, RecordGuarantee
from fedperm.privacy.registry import NO_SHUFFLE
from fedperm.run_document import FrozenDocument, KeySpec, ModelSpec, TensorSpec
from fedperm_cli.errors import OptionsError
from fedperm_cli.run.options import RunOptions
from fedperm_cli.run.planning import PlannedRun, finished_run, plan_run
from fedperm_cli.run.privacy import LOCAL_METRICS
from fedperm_cli.run.specs import check, parse_task_options
from tests.documents.operator import IDENTITY

KEY = KeySpec(key="key", parameters={"key_bits": 2048}, signing_key="B" * 42 + "A")
OPTIONS = RunOptions(
    key="key",
    task="digits",
    clients=5,
    rounds=3,
    learning_rate=3.0,
    k1=100,
    k2=2,
    clip=0.1,
    epsilon=4.0,
    accountant=NO_SHUFFLE.name,
)


def model(parameters: int = 650) -> ModelSpec:
    tensor = TensorSpec(name="weight", shape=(parameters,))
    return ModelSpec(tensors=(tensor,), initial_sha256="0" * 64)


def planned(options: RunOptions, parameters: int = 650) -> PlannedRun:
    return plan_run("run", options, model(parameters), KEY, IDENTITY.keys)


some_options = st.builds(
    RunOptions,
    key=st.just("key"),
    task=st.just("digits"),
    clients=st.integers(1, 100),
    rounds=st.integers(1, 50),
    clients_per_round=st.none() | st.integers(1, 120),
    min_contributors=st.none() | st.integers(1, 120),
    start_with=st.none() | st.integers(1, 120),
    deadline_seconds=st.floats(0.1, 1e4),
    learning_rate=st.floats(1e-3, 10),
    local_epochs=st.integers(1, 3),
    batch_size=st.none() | st.integers(1, 100),
    clip_norm_record=st.none() | st.floats(0.1, 10),
    min_records=st.integers(1, 1000),
    k1=st.integers(1, 300),
    k2=st.integers(1, 12),
    clip=st.floats(1e-3, 1),
    laplace_scale=st.floats(1e-4, 1e3),
    accountant=st.just(NO_SHUFFLE.name),
    value_bits=st.none() | st.integers(1, 20),
    norm_bound=st.none() | st.floats(1e-3, 1e4),
    norm_form=st.sampled_from(NormForm),
)


@settings(max_examples=30)
@given(some_options, st.integers(1, 2000))
def test_what_is_built_is_accepted_by_the_documents_own_validation(options, parameters):
    try:
        check(options)
        built = planned(options, parameters)
    except FedPermError:
        return  # refused in words: nothing was built
    again = FrozenDocument(built.document.octets)
    assert again.content == built.document.content
    assert again.sha256 == built.document.sha256


@settings(max_examples=20)
@given(
    st.integers(2, 60), st.integers(1, 20), st.integers(1, 300), st.integers(1, 12),
    st.integers(1, 2000), st.floats(1e-4, 1e3),
)  # fmt: skip
def test_without_pins_every_geometry_gives_a_document(clients, rounds, k1, k2, d, scale):
    options = replace(
        OPTIONS, clients=clients, rounds=rounds, k1=k1, k2=k2, epsilon=None, laplace_scale=scale
    )
    content = planned(options, d).document.content
    assert content.plan.geometry.d == d
    assert content.rounds.min_contributors == (3 if 2 < clients < 6 else clients // 2 + 1)
    assert content.rounds.start_with == content.rounds.clients_per_round == clients


@pytest.mark.parametrize("epsilon", [0.5, 4, 100])
@pytest.mark.parametrize("accountant", ["default", "no-shuffle-rdp"])
def test_the_calibrated_noise_keeps_the_wanted_epsilon_and_no_more(epsilon, accountant):
    built = planned(replace(OPTIONS, epsilon=epsilon, accountant=accountant))
    content = built.document.content
    assert built.report is not None
    counted = built.report.rows.paper_unit.epsilon
    assert counted <= epsilon
    assert counted == pytest.approx(epsilon, rel=1e-2)
    assert content.noise.accountant == accountant
    less = guarantee(NO_SHUFFLE, content.plan.geometry, 3, content.noise.laplace_scale * 0.9, 1e-5)
    if accountant == NO_SHUFFLE.name:
        assert less.epsilon > epsilon


@pytest.mark.parametrize("epsilon", [0.5, 5])
def test_a_record_gets_its_epsilon(epsilon):
    options = replace(
        OPTIONS, epsilon=None, record_epsilon=epsilon, clip_norm_record=2.0, min_records=250
    )
    built = planned(options)
    assert built.report is not None
    record = built.report.rows.record
    assert isinstance(record, RecordGuarantee)
    assert record.records == 250
    assert record.epsilon <= epsilon
    assert record.epsilon == pytest.approx(epsilon, rel=1e-6)


def test_local_epochs_leave_records_without_a_bound():
    built = planned(replace(OPTIONS, local_epochs=2))
    assert built.report is not None
    assert isinstance(built.report.rows.record, NoRecordBound)


def test_no_noise_has_no_report():
    built = planned(replace(OPTIONS, epsilon=None, no_noise=True))
    assert built.report is None
    assert built.document.content.noise.laplace_scale == 0


def test_training_losses_are_named_as_uncounted():
    plain, asked = planned(OPTIONS), planned(replace(OPTIONS, local_metrics=True))
    assert plain.report is not None
    assert asked.report is not None
    assert asked.report.notes == (*plain.report.notes, LOCAL_METRICS)
    assert asked.document.content.local_metrics


def test_the_planner_chooses_the_value_bits_and_says_why():
    built = planned(OPTIONS)
    content = built.document.content
    shape = plan(d=650, k1=100, k2=2, clients=5, laplace_scale=content.noise.laplace_scale)
    assert content.value_bits == shape.fixed_point.value_bits
    assert built.reasons == shape.reasons
    assert planned(replace(OPTIONS, value_bits=17)).document.content.value_bits == 17


def test_the_norm_bound_lets_honest_clients_through_unless_one_is_given():
    content = planned(OPTIONS).document.content
    assert content.norm_bound is not None
    expected = honest_limit(content.plan.geometry.padded_d, content.noise.laplace_scale)
    assert content.norm_bound.limit == expected
    pinned = planned(replace(OPTIONS, norm_bound=77.0, norm_form=NormForm.PAPER)).document.content
    assert pinned.norm_bound is not None
    assert (pinned.norm_bound.limit, pinned.norm_bound.form) == (77.0, NormForm.PAPER)


def test_the_same_options_give_the_same_bytes():
    assert planned(OPTIONS).document.octets == planned(OPTIONS).document.octets


def test_a_finished_document_is_reported_like_a_planned_one():
    built = planned(OPTIONS)
    again = finished_run(FrozenDocument(built.document.octets))
    assert again.report == built.report
    assert again.document.sha256 == built.document.sha256


def test_a_deadline_is_extended_by_half_of_it():
    rounds = planned(replace(OPTIONS, deadline_seconds=60)).document.content.rounds
    assert (rounds.deadline_seconds, rounds.extension_seconds) == (60, 30)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"task": None}, "needs --task"),
        ({"clients": None}, "needs --clients"),
        ({"rounds": None}, "needs --rounds"),
        ({"learning_rate": None}, "needs --learning-rate"),
        ({"k1": None}, "needs --k1"),
        ({"clip": None}, "needs --clip"),
        ({"epsilon": None}, "in exactly one way"),
        ({"no_noise": True}, "in exactly one way"),
        ({"laplace_scale": 1.0}, "in exactly one way"),
        ({"epsilon": None, "record_epsilon": 2.0}, "--record-epsilon needs a bound"),
        ({"norm_form": NormForm.PAPER}, "suits honest clients in the paper form"),
        ({"option": ["model"]}, "--option model is not of the form NAME=VALUE"),
        ({"option": ["a=1", "b=1", "a=1"]}, "option a is given twice"),
    ],
)
def test_options_that_need_one_another_are_asked_for(change, words):
    with pytest.raises(OptionsError, match=words):
        check(replace(OPTIONS, **change))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"learning_rate": -1.0}, "learning_rate: .* greater than 0"),
        ({"min_contributors": 6}, "min_contributors exceeds clients_per_round"),
        ({"clients": 1}, "an average of one client"),
        ({"clients_per_round": 1}, "an average of one client"),
        ({"min_contributors": 1}, "an average of one client"),
        ({"clients": 2}, "each has the other's update"),
        ({"k1": 0}, "k1: "),
        ({"local_epochs": 2, "clip_norm_record": 1.0}, "one full-batch step"),
        ({"epsilon": -1.0}, "--epsilon is -1"),
        ({"clip": 0.0}, "the clip C is 0"),
    ],
)
def test_impossible_options_are_refused_before_any_server_is_asked(change, words):
    with pytest.raises(ParameterError, match=words):
        check(replace(OPTIONS, **change))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value_bits": 99}, "value_bits is 99"),
        ({"value_bits": 1, "norm_bound": 0.1}, "finer than"),
        ({"delta": 2.0}, "--delta is 2"),
        ({"accountant": "nonsense"}, "no accountant 'nonsense'"),
    ],
)
def test_what_only_the_plan_can_tell_is_refused_then(change, words):
    with pytest.raises(FedPermError, match=words):
        planned(replace(OPTIONS, **change))


def test_a_short_key_needs_the_switch():
    short = KEY.model_copy(update={"parameters": {"key_bits": 512}})
    with pytest.raises(KeyStrengthError, match="512 bits"):
        plan_run("run", OPTIONS, model(), short, IDENTITY.keys)
    insecure = replace(OPTIONS, insecure_test_key=True)
    admitted = plan_run("run", insecure, model(), short, IDENTITY.keys)
    assert admitted.document.content.insecure_for_tests


def test_values_of_task_options_are_what_json_would_read():
    texts = [
        "model=mlp",
        "alpha=1.5",
        "hidden=32",
        "fast=true",
        "name=a=b",
        "odd=NaN",
        "list=[]",
    ]
    assert parse_task_options(texts) == {
        "model": "mlp",
        "alpha": 1.5,
        "hidden": 32,
        "fast": True,
        "name": "a=b",
        "odd": "NaN",
        "list": "[]",
    }
