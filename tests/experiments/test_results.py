"""The committed results: by committed code, as good as promised, and the document theirs."""

import pytest

from experiments.accuracy.experiment import Wish
from experiments.accuracy.gaussian import REMOVED, REPLACED, GaussianNoise, spent
from experiments.accuracy.measured import PART, seeds
from experiments.accuracy.recipes import recipe_for
from experiments.accuracy.rows import FEDAVG, ROWS, SEEDS, Row, Table, fedperm_row
from experiments.accuracy.searches import CONFIGURATIONS, SEARCHES
from experiments.accuracy.searches import SEEDS as TUNING_SEEDS
from experiments.accuracy.setting import ROUNDS, Algorithm
from experiments.accuracy.summary import summaries
from experiments.accuracy.tuning import accuracy_of, trials
from experiments.paper.document import results_document
from experiments.paper.execution import missing
from experiments.paper.records import COMMITTED, read
from fedperm_cli.presets import Preset

DOCUMENT = COMMITTED.parents[1] / "docs" / "results.md"


def measured(row):
    found = summaries(read(COMMITTED, PART))
    if row.name not in found:
        pytest.skip(f"{row.name} is not measured yet: python -m experiments.paper --only accuracy")
    return found[row.name]


def record_row(epsilon):
    (row,) = [r for r in ROWS if r.table is Table.RECORD and r.wish.epsilon == epsilon]
    return row


def test_the_document_is_what_the_result_files_say():
    assert DOCUMENT.read_text() == results_document(COMMITTED, seeds(quick=False))


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


def test_every_search_was_made_in_full_on_other_seeds():
    assert missing(trials(), COMMITTED) == []
    assert {len(search.tried) for search in SEARCHES} == {CONFIGURATIONS}
    assert not set(SEEDS) & set(TUNING_SEEDS)


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.name)
def test_a_second_look_is_at_the_best_of_the_grid(search):
    results = read(COMMITTED, "tuning")
    accuracies = [accuracy_of(number, search, results) for number in range(len(search.grid))]
    assert accuracies[search.best_of_grid] == max(accuracies)


def test_every_row_was_trained_as_tuned():
    rows = {row.name: row for row in ROWS if row.wish.accountant in ("paper", "default")}
    for record in read(COMMITTED, PART).records:
        row = rows.get(record.settings["row"])
        if row is not None:
            recipe, used = recipe_for(row.wish, row.filter), record.settings["recipe"]
            assert (used["learning_rate"], used["clip"]) == (recipe.learning_rate, recipe.clip)


@pytest.mark.parametrize("part", ["accuracy", "tuning"])
def test_figures_come_from_committed_code(part):
    assert not [o.commit for o in read(COMMITTED, part).origins if not o.commit.isalnum()]
