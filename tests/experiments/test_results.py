"""The committed results: by committed code, as good as promised, and the document theirs."""

import re

import pytest

from experiments.accuracy.experiment import Wish
from experiments.accuracy.gaussian import REMOVED, REPLACED, GaussianNoise, spent
from experiments.accuracy.measured import PART, seeds
from experiments.accuracy.privacy import scale_for_run
from experiments.accuracy.recipes import recipe_for
from experiments.accuracy.report import PRINTED, row_label
from experiments.accuracy.rows import FEDAVG, ROWS, SEEDS, Row, Table, fedperm_row
from experiments.accuracy.searches import CONFIGURATIONS, SEARCHES
from experiments.accuracy.searches import SEEDS as TUNING_SEEDS
from experiments.accuracy.setting import ROUNDS, Algorithm, Schedule
from experiments.accuracy.summary import summaries
from experiments.accuracy.tuning import accuracy_of, trials
from experiments.encrypted.measured import result_in
from experiments.paper.document import PARTS, results_document
from experiments.paper.execution import missing
from experiments.paper.plan import measurements
from experiments.paper.records import COMMITTED, read
from experiments.paper.writing import write_up
from fedperm_cli.presets import Preset

DOCUMENT = COMMITTED.parents[1] / "docs" / "results.md"


def measured(row):
    return summaries(read(COMMITTED, PART))[row.name]


@pytest.fixture(scope="module")
def plan():
    """All that the document shows."""
    return [*measurements(quick=False), *trials()]


def test_all_that_is_planned_is_measured_and_nothing_else(plan):
    assert [measurement.name for measurement in missing(plan, COMMITTED)] == []
    planned = {(measurement.part, measurement.name) for measurement in plan}
    kept = {(part, record.name) for part in PARTS for record in read(COMMITTED, part).records}
    assert kept == planned


def record_row(epsilon):
    (row,) = [r for r in ROWS if r.table is Table.RECORD and r.wish.epsilon == epsilon]
    return row


def test_the_document_is_what_the_result_files_say():
    assert DOCUMENT.read_text() == results_document(COMMITTED, seeds(quick=False))


def test_the_pictures_are_what_the_result_files_say(tmp_path):
    write_up(COMMITTED, tmp_path, seeds(quick=False))
    drawn = {path.name: path.read_text() for path in (tmp_path / "pictures").glob("*.svg")}
    kept = (DOCUMENT.parent / "pictures").glob("*.svg")
    assert drawn == {path.name: path.read_text() for path in kept}
    assert len(drawn) == 9


@pytest.mark.parametrize(
    ("row", "least"),
    [
        (FEDAVG, 91.0),
        (fedperm_row(Preset.HEAVY, "paper", 4.0), 74.0),
        (fedperm_row(Preset.LIGHT, "paper", 4.0), 38.0),
        (fedperm_row(Preset.LIGHT, "default", 4.0), 80.0),
        (fedperm_row(Preset.HEAVY, "default", 4.0), 90.0),
        (record_row(2.0), 86.0),
    ],
    ids=lambda value: value.name if isinstance(value, Row) else "",
)
def test_the_accuracies_are_those_that_were_set_out_for(row, least):
    summary = measured(row)
    assert summary.seeds == SEEDS
    assert summary.mean >= least


def test_settings_are_those_that_a_measurement_reported_in_its_epsilons():
    units = {"cdp": "participant", "ldp": "whole_update", "fedperm": "paper_unit"}
    noised = [r for r in read(COMMITTED, PART).records if r.settings["algorithm"] in units]
    assert len(noised) == len(SEEDS) * (len(ROWS) - 2)  # FedAvg, of filtered and of raw images
    for record in noised:
        settings, privacy = record.settings, record.result["privacy"]
        unit = "record" if settings["for_record"] else units[settings["algorithm"]]
        assert privacy["delta"] == settings["delta"]
        assert privacy[unit] == pytest.approx(settings["epsilon"], rel=0.01)
        if settings["algorithm"] == "fedperm":
            assert privacy["accountant"] == settings["accountant"]


def test_how_far_raw_pixels_are_from_the_paper():
    """In standard deviations, as the text has it."""
    rows = [r for r in ROWS if r.table is Table.RAW and r.wish.accountant in ("paper", "default")]
    found = {row_label(row): measured(row) for row in rows if _is_the_papers(row)}
    distances = {
        name: (found[name].mean - PRINTED[name]) / found[name].deviation for name in PRINTED
    }
    assert {name for name in PRINTED if abs(distances[name]) < 1} == {
        "CDP-FL",
        "LDP-FL",
        "FedPerm light",
    }
    assert min(distances["FedPerm heavy"], distances["FedAvg"]) > 1


def _is_the_papers(row: Row) -> bool:
    return row.wish.algorithm is not Algorithm.FEDPERM or row.wish.accountant == "paper"


@pytest.mark.parametrize("preset", list(Preset))
@pytest.mark.parametrize("accountant", ["paper", "no-shuffle-rdp", "default"])
def test_the_noise_is_what_its_accountant_asks_for(preset, accountant):
    """Also of the code as it is now: figures of other mathematics would be stale."""
    (noise,) = set(measured(fedperm_row(preset, accountant, 4.0)).noise)
    assert noise == pytest.approx(scale_for_run(accountant, preset.geometry, 4.0), rel=1e-6)


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 4.0, 8.0])
def test_the_papers_chain_needs_more_noise_in_light_than_no_shuffle_would(epsilon):
    by_paper, unshuffled = (
        measured(fedperm_row(Preset.LIGHT, accountant, epsilon))
        for accountant in ("paper", "no-shuffle-rdp")
    )
    assert by_paper.noise[0] > unshuffled.noise[0]
    assert by_paper.mean < unshuffled.mean


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0, 8.0])
def test_a_record_has_the_epsilon_that_its_row_says(epsilon):
    assert measured(record_row(epsilon)).epsilon("record") <= epsilon


@pytest.mark.parametrize(
    ("algorithm", "sensitivity"), [(Algorithm.CDP, REMOVED), (Algorithm.LDP, REPLACED)]
)
def test_the_gaussian_baselines_kept_their_budget_to_the_last_round(algorithm, sensitivity):
    summary = measured(Row(Table.PAPER_UNIT, Wish(algorithm, 4.0)))
    assert {len(accuracies) for accuracies in summary.by_round} == {ROUNDS}
    assert spent(GaussianNoise(summary.noise[0], sensitivity), ROUNDS) <= 4.0


def test_every_search_was_made_on_other_seeds_with_as_many_configurations():
    assert {len(search.tried) for search in SEARCHES} == {CONFIGURATIONS}
    assert not set(SEEDS) & set(TUNING_SEEDS)


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.name)
def test_a_second_look_is_at_the_best_of_the_grid(search):
    results = read(COMMITTED, "tuning")
    accuracies = [accuracy_of(number, search, results) for number in range(len(search.grid))]
    assert accuracies[search.best_of_grid] == max(accuracies)


def test_fedperm_was_trained_as_a_client_of_this_project_can():
    """What a recipe does with averages is the simulation's alone."""
    recipes = [
        recipe_for(row.wish, row.filter)
        for row in ROWS
        if row.wish.algorithm is Algorithm.FEDPERM and row.wish.accountant in ("paper", "default")
    ]
    assert {(r.momentum, r.schedule, r.averages_models) for r in recipes} == {
        (0.0, Schedule.CONSTANT, False)
    }


@pytest.mark.parametrize("part", PARTS)
def test_figures_come_from_committed_code(part):
    commits = [origin.commit for origin in read(COMMITTED, part).origins]
    assert commits
    assert not [commit for commit in commits if not re.fullmatch("[0-9a-f]{12}", commit)]


def test_the_encrypted_federation_and_its_replay_held_the_same_models():
    result = result_in(read(COMMITTED, "encrypted"))
    assert result is not None
    assert result.identical
    assert (result.clients, result.key_bits, result.parameters) == (15, 2048, 7850)
    assert len(result.rounds) >= 5
    assert {figures.contributors for figures in result.rounds} == {15}
