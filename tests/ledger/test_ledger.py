"""The ledger stops the run, survives restarts, and refuses what it cannot trust."""

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import BudgetError, LedgerError, ParameterError
from fedperm.privacy.accountant import Guarantee
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.ledger import Budget, Charge, Ledger
from fedperm.windows import Geometry

QUIET = ShuffledLaplace(Geometry(12, 3, 1), 4.0)
LOUD = ShuffledLaplace(Geometry(12, 3, 1), 1.0)
BUDGET = Budget(epsilon=1.0, delta=1e-5, accountant="per-parameter")


class PerParameter:
    """Pure epsilon of a single parameter by basic composition: rounds / b, easy to do by hand."""

    name = "per-parameter"

    def guarantee(self, rounds: Rounds, delta: float) -> Guarantee:
        assert 0 < delta <= BUDGET.delta
        epsilon = rounds.count * rounds.event.epsilon_wd
        return Guarantee(epsilon, delta, self.name, "basic composition")


def start(folder: Path) -> Ledger:
    return Ledger.start(folder / "ledger.jsonl", BUDGET, PerParameter())


def reopen(ledger: Ledger) -> Ledger:
    return Ledger(ledger.path, BUDGET, PerParameter())


def test_rounds_are_charged_until_the_budget_and_not_beyond(tmp_path):
    ledger = start(tmp_path)
    for number in range(4):
        assert ledger.rounds_left(QUIET) == 4 - number
        ledger.charge(Charge("run", number, QUIET))
    assert ledger.spent() == 1.0
    with pytest.raises(BudgetError, match=r"1.25; 1 of 1 is spent.*0 rounds are left"):
        ledger.charge(Charge("run", 4, QUIET))
    assert len(ledger.charges()) == 4


def test_a_refusal_says_how_many_quieter_rounds_are_left(tmp_path):
    ledger = start(tmp_path)
    ledger.charge(Charge("run", 0, QUIET))
    with pytest.raises(BudgetError, match=r"would bring epsilon to 1\.25"):
        ledger.charge(Charge("run", 1, LOUD))
    assert ledger.rounds_left(QUIET) == 3
    assert ledger.rounds_left(LOUD) == 0


def test_a_restart_forgets_nothing(tmp_path):
    ledger = start(tmp_path)
    ledger.charge(Charge("run", 0, QUIET))
    again = reopen(ledger)
    assert again.charges() == (Charge("run", 0, QUIET),)
    assert again.spent() == 0.25


def test_the_same_round_again_is_no_second_charge(tmp_path):
    ledger = start(tmp_path)
    for _ in range(3):
        ledger.charge(Charge("run", 0, QUIET))
    assert ledger.spent() == 0.25


def test_the_same_round_with_other_noise_is_refused(tmp_path):
    ledger = start(tmp_path)
    ledger.charge(Charge("run", 0, QUIET))
    with pytest.raises(LedgerError, match="charged with other parameters"):
        ledger.charge(Charge("run", 0, LOUD))


def test_runs_on_the_same_data_share_the_budget(tmp_path):
    ledger = start(tmp_path)
    for run in "abcd":
        ledger.charge(Charge(run, 0, QUIET))
    with pytest.raises(BudgetError):
        ledger.charge(Charge("e", 0, QUIET))


def damage(content: bytes, draw: st.DataObject) -> bytes:
    kind = draw.draw(st.sampled_from(["flip", "cut", "append", "drop a line", "swap lines"]))
    lines = content.splitlines(keepends=True)
    match kind:
        case "flip":
            place = draw.draw(st.integers(0, len(content) - 1))
            bit = 1 << draw.draw(st.integers(0, 7))
            return content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :]
        case "cut":
            ends = {sum(map(len, lines[:n])) for n in range(1, len(lines) + 1)}
            place = draw.draw(st.integers(0, len(content) - 1).filter(lambda p: p not in ends))
            return content[:place]
        case "append":
            return content + draw.draw(st.binary(min_size=1, max_size=5))
        case "drop a line":
            place = draw.draw(st.integers(0, len(lines) - 2))
            return b"".join(lines[:place] + lines[place + 1 :])
        case _:
            return b"".join([lines[0], lines[2], lines[1], *lines[3:]])


@given(st.data())
def test_a_damaged_ledger_is_refused_and_left_as_it_is(data):
    """Every damage but one: the last lines gone as a whole is an older ledger (see the docs)."""
    with TemporaryDirectory() as folder:
        ledger = start(Path(folder))
        for number in range(3):
            ledger.charge(Charge("run", number, QUIET))
        damaged = damage(ledger.path.read_bytes(), data)
        ledger.path.write_bytes(damaged)
        with pytest.raises(LedgerError, match=r"damaged|another budget"):
            reopen(ledger)
        with pytest.raises(LedgerError):
            ledger.charge(Charge("run", 9, QUIET))
        assert ledger.path.read_bytes() == damaged


def test_a_missing_ledger_is_refused(tmp_path):
    with pytest.raises(LedgerError, match="the file is missing"):
        Ledger(tmp_path / "nowhere" / "ledger.jsonl", BUDGET, PerParameter())


def test_a_ledger_is_not_started_twice(tmp_path):
    start(tmp_path)
    with pytest.raises(LedgerError, match="already"):
        start(tmp_path)


def test_a_ledger_is_not_opened_with_another_budget(tmp_path):
    ledger = start(tmp_path)
    richer = Budget(epsilon=100.0, delta=1e-5, accountant="per-parameter")
    with pytest.raises(LedgerError, match="another budget"):
        Ledger(ledger.path, richer, PerParameter())


def test_the_accountant_must_be_the_budgets(tmp_path):
    with pytest.raises(ParameterError, match="accountant per-parameter"):
        Ledger.start(tmp_path / "ledger", Budget(1.0, 1e-5, "paper"), PerParameter())


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 1e-5), (-1, 1e-5), (1, 0), (1, 1), (1, 2)])
def test_impossible_budgets_are_refused(epsilon, delta):
    with pytest.raises(ParameterError, match="budget"):
        Budget(epsilon, delta, "paper")


def try_to_charge(path: Path, number: int) -> bool:
    try:
        Ledger(path, BUDGET, PerParameter()).charge(Charge("run", number, QUIET))
    except BudgetError:
        return False
    return True


def test_processes_that_charge_at_once_do_not_overspend(tmp_path):
    ledger = start(tmp_path)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        granted = list(pool.map(try_to_charge, [ledger.path] * 12, range(12)))
    assert sum(granted) == 4
    assert ledger.spent() == 1.0


def test_the_file_is_readable_json_lines(tmp_path):
    ledger = start(tmp_path)
    ledger.charge(Charge("run", 7, QUIET))
    header, line = [json.loads(text) for text in ledger.path.read_text().splitlines()]
    assert header["budget"] == {"epsilon": 1.0, "delta": 1e-5, "accountant": "per-parameter"}
    assert (line["run"], line["round"], line["event"]["laplace_scale"]) == ("run", 7, 4.0)
