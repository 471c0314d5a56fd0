"""The ledger stops the run, survives restarts, and refuses what it cannot trust."""

import hashlib
import json
import math
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import BudgetError, LedgerError, ParameterError
from fedperm.privacy.accountant import Guarantee
from fedperm.privacy.calibration import laplace_scale
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.ledger import Budget, Charge, Ledger
from fedperm.privacy.registry import BLANKET, DEFAULT, PAPER
from fedperm.windows import Geometry

QUIET = ShuffledLaplace(Geometry(12, 3, 1), 4.0)
LOUD = ShuffledLaplace(Geometry(12, 3, 1), 1.0)
DIGEST = "5a" * 32
BUDGET = Budget(epsilon=1.0, delta=1e-5, accountant="per-parameter")


class PerParameter:
    """Pure epsilon of a single parameter by basic composition: rounds / b, easy to do by hand."""

    name = "per-parameter"
    experimental = False
    reproduction_only = False

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
        ledger.charge(Charge("run", number, QUIET, DIGEST))
    assert ledger.spent() == 1.0
    with pytest.raises(BudgetError, match=r"1.25; 1 of 1 is spent.*0 rounds are left"):
        ledger.charge(Charge("run", 4, QUIET, DIGEST))
    assert len(ledger.charges()) == 4


def test_a_refusal_says_how_many_quieter_rounds_are_left(tmp_path):
    ledger = start(tmp_path)
    ledger.charge(Charge("run", 0, QUIET, DIGEST))
    with pytest.raises(BudgetError, match=r"would bring epsilon to 1\.25"):
        ledger.charge(Charge("run", 1, LOUD, DIGEST))
    assert ledger.rounds_left(QUIET) == 3
    assert ledger.rounds_left(LOUD) == 0


def test_a_restart_forgets_nothing(tmp_path):
    ledger = start(tmp_path)
    ledger.charge(Charge("run", 0, QUIET, DIGEST))
    again = reopen(ledger)
    assert again.charges() == (Charge("run", 0, QUIET, DIGEST),)
    assert again.spent() == 0.25


def test_the_same_round_again_is_no_second_charge(tmp_path):
    ledger = start(tmp_path)
    for _ in range(3):
        ledger.charge(Charge("run", 0, QUIET, DIGEST))
    assert ledger.spent() == 0.25


def test_the_same_round_with_other_noise_is_refused(tmp_path):
    ledger = start(tmp_path)
    ledger.charge(Charge("run", 0, QUIET, DIGEST))
    with pytest.raises(LedgerError, match="charged for another upload"):
        ledger.charge(Charge("run", 0, LOUD, DIGEST))


def test_fresh_bytes_for_a_charged_round_are_refused(tmp_path):
    """A crash before the upload was saved must not buy a second release with fresh noise."""
    ledger = start(tmp_path)
    ledger.charge(Charge("run", 0, QUIET, DIGEST))
    with pytest.raises(LedgerError, match="charged for another upload"):
        ledger.charge(Charge("run", 0, QUIET, "00" * 32))
    assert ledger.spent() == 0.25


class HalvedDelta(PerParameter):
    """log2(budget's delta / delta): 0 for one kind of rounds, 1 for each of two."""

    def guarantee(self, _rounds: Rounds, delta: float) -> Guarantee:
        epsilon = math.log2(BUDGET.delta / delta) / 4
        return Guarantee(epsilon, delta, self.name, "for this test")


def test_two_kinds_of_rounds_share_delta(tmp_path):
    ledger = Ledger.start(tmp_path / "ledger", BUDGET, HalvedDelta())
    ledger.charge(Charge("run", 0, QUIET, DIGEST))
    assert ledger.spent() == 0.0
    ledger.charge(Charge("run", 1, LOUD, DIGEST))
    assert ledger.spent() == pytest.approx(0.5)


def test_the_error_of_the_sampler_is_charged_too(tmp_path):
    """2 d eta per round: 2 * 12 * 0.01 = 0.24 on top of 1/4."""
    ledger = start(tmp_path)
    ledger.charge(Charge("run", 0, QUIET, DIGEST, sampler_eta=0.01))
    assert ledger.spent() == pytest.approx(0.49)


def test_a_real_accountant_stops_the_run_where_calibration_says(tmp_path):
    """Noise calibrated for five rounds admits five, and no sixth."""
    geometry, budget = Geometry(785, 100, 1), Budget(2.0, 1e-5, "default")
    event = ShuffledLaplace(geometry, laplace_scale(DEFAULT, geometry, 5, 2.0, 1e-5))
    ledger = Ledger.start(tmp_path / "ledger", budget, DEFAULT)
    assert ledger.rounds_left(event) == 5
    for number in range(5):
        ledger.charge(Charge("run", number, event, DIGEST))
    with pytest.raises(BudgetError, match="0 rounds are left at this noise"):
        ledger.charge(Charge("run", 5, event, DIGEST))
    assert 1.99 < ledger.spent() <= 2.0


@pytest.mark.parametrize("accountant", [PAPER, BLANKET], ids=lambda a: a.name)
def test_a_ledger_takes_no_accountant_without_a_proved_bound(accountant, tmp_path):
    with pytest.raises(ParameterError, match="no proved bound"):
        Ledger.start(tmp_path / "ledger", Budget(4.0, 1e-5, accountant.name), accountant)
    assert not (tmp_path / "ledger").exists()


@pytest.mark.parametrize("name", ["ledger.lock", "ledger.new", "ledger"])
def test_any_file_name_will_do(name, tmp_path):
    ledger = Ledger.start(tmp_path / name, BUDGET, PerParameter())
    ledger.charge(Charge("run", 0, QUIET, DIGEST))
    assert reopen(ledger).spent() == 0.25


def test_runs_on_the_same_data_share_the_budget(tmp_path):
    ledger = start(tmp_path)
    for run in "abcd":
        ledger.charge(Charge(run, 0, QUIET, DIGEST))
    with pytest.raises(BudgetError):
        ledger.charge(Charge("e", 0, QUIET, DIGEST))


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
            ledger.charge(Charge("run", number, QUIET, DIGEST))
        damaged = damage(ledger.path.read_bytes(), data)
        ledger.path.write_bytes(damaged)
        with pytest.raises(LedgerError, match=r"damaged|another budget"):
            reopen(ledger)
        with pytest.raises(LedgerError):
            ledger.charge(Charge("run", 9, QUIET, DIGEST))
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


def test_a_ledger_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path):
    ledger = start(tmp_path)
    header = json.loads(ledger.path.read_text()) | {"version": 2}
    del header["chain"]
    chain = hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()
    newer = json.dumps(header | {"chain": chain}, sort_keys=True) + "\n"
    ledger.path.write_text(newer)
    with pytest.raises(LedgerError, match=r"version 2; this program knows version 1 .*newer one"):
        reopen(ledger)
    assert ledger.path.read_text() == newer


def test_the_accountant_must_be_the_budgets(tmp_path):
    with pytest.raises(ParameterError, match="accountant per-parameter"):
        Ledger.start(tmp_path / "ledger", Budget(1.0, 1e-5, "paper"), PerParameter())


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0, 1e-5), (-1, 1e-5), (math.inf, 1e-5), (1, 0), (1, 1), (1, 2)]
)
def test_impossible_budgets_are_refused(epsilon, delta):
    with pytest.raises(ParameterError, match="budget"):
        Budget(epsilon, delta, "paper")


def try_to_charge(path: Path, number: int) -> bool:
    try:
        Ledger(path, BUDGET, PerParameter()).charge(Charge("run", number, QUIET, DIGEST))
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
    ledger.charge(Charge("run", 7, QUIET, DIGEST))
    header, line = [json.loads(text) for text in ledger.path.read_text().splitlines()]
    assert header["budget"] == {"epsilon": 1.0, "delta": 1e-5, "accountant": "per-parameter"}
    assert (line["run"], line["round"], line["event"]["laplace_scale"]) == ("run", 7, 4.0)
