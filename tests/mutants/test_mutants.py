"""The parts of `make mutants` that need no mutmut: a mutant takes effect, the right tests are
asked about it, and what survives is counted and listed."""

from functools import wraps
from pathlib import Path

from experiments.mutants.choice import MOST_SECONDS, Choice
from experiments.mutants.forks import in_fork
from experiments.mutants.mutant import Mutant, mutant_of
from experiments.mutants.page import killed_share, page
from experiments.mutants.results import Fate, Result
from experiments.mutants.survey import Surveyed
from experiments.mutants.swap import LiveFunctions
from experiments.mutants.targets import LEFT_OUT, TARGETS

ROOT = Path(__file__).parents[2]
JOBS = next(target for target in TARGETS if target.name == "fedperm_aggregator/stores/jobs")
SOURCE = """
def doubled(function):
    @wraps(function)
    def wrapper(number):
        return 2 * function(number)
    return wrapper

class Counter:
    @doubled
    def next(self_or_number):
        return self_or_number + 1
"""


def mutant(line: int = 7, function: str | None = "JobStore.claim") -> Mutant:
    return Mutant(JOBS.path, function, "", line, "a", "b")


def test_a_mutant_takes_effect_behind_a_decorator_and_for_whoever_held_the_function():
    names: dict = {"wraps": wraps}
    exec(compile(SOURCE, "counter.py", "exec"), names)  # noqa: S102 (the text above)
    held = names["Counter"].next
    assert held(3) == 8
    mutated = SOURCE.replace("self_or_number + 1", "self_or_number - 1")
    changed = mutant_of("counter.py", "Counter.next", SOURCE, mutated)
    assert (changed.line, changed.after) == (11, "return self_or_number - 1")
    assert LiveFunctions({"counter.py"}).take_in(changed, "counter.py")
    assert held(3) == 4


def test_a_mutant_that_fits_no_function_is_not_said_to_take_effect():
    names: dict = {"wraps": wraps}
    exec(compile(SOURCE, "counter.py", "exec"), names)  # noqa: S102 (the text above)
    live = LiveFunctions({"counter.py"})
    nowhere = mutant_of("counter.py", "Counter.last", SOURCE, SOURCE.replace("+ 1", "- 1"))
    assert not live.take_in(nowhere, "counter.py")
    closed_over = SOURCE.replace("2 * function(number)", "2 * number")
    wrapper = "doubled.<locals>.wrapper"
    assert not live.take_in(mutant_of("x", wrapper, SOURCE, closed_over), "counter.py")


def surveyed(name: str, seconds: float, *lines: int, file: str = "test_leases") -> Surveyed:
    filename = str(ROOT / JOBS.path)
    node = f"tests/aggregator/{file}.py::{name}"
    return Surveyed(node, True, seconds, frozenset((filename, line) for line in lines))


def test_tests_that_run_the_line_are_asked_the_quickest_first():
    quick, slow = surveyed("quick", 0.1, 7), surveyed("slow", 2.0, 7, 8)
    other, elsewhere = surveyed("other", 0.2, 8), surveyed("elsewhere", 0.1)
    choice = Choice(ROOT, [slow, other, elsewhere, quick])
    assert choice.of(mutant(7), JOBS) == [quick, slow]
    assert choice.of(mutant(99), JOBS) == [quick, other, slow]
    assert choice.of(mutant(7, function=None), JOBS) == [quick, other, slow]
    choice.note(mutant(7), slow.node)
    assert choice.of(mutant(7), JOBS) == [slow, quick]


def test_tests_at_home_are_asked_first_and_others_while_there_is_time():
    at_home = [surveyed(str(n), MOST_SECONDS, 7) for n in range(3)]
    others = [surveyed(str(n), MOST_SECONDS * 0.4, 7, file="test_reports") for n in range(3)]
    assert Choice(ROOT, [*others, *at_home]).of(mutant(), JOBS) == [*at_home, *others[:2]]


def test_a_fork_says_how_it_ended_or_is_ended():
    assert in_fork(lambda: 0, 60) == 0
    assert in_fork(lambda: 17, 60) == 17
    assert in_fork(lambda: 1 // 0, 60) == 1
    assert in_fork(lambda: in_fork(lambda: 0, 60) or __import__("time").sleep(600), 0.2) is None


def result(fate: Fate, asked: int = 1) -> Result:
    return Result.of(mutant(), fate, "", asked, 0.1)


def test_what_never_ends_counts_as_noticed_and_is_listed_with_what_survived():
    results = [result(Fate.KILLED)] * 7 + [result(Fate.TIMEOUT), result(Fate.SURVIVED, 0)]
    assert killed_share(results) == 8 / 9
    assert killed_share([]) == 0
    printed = page(results)
    assert "88.9%" in printed
    assert printed.count(f"{JOBS.path}:7  JobStore.claim") == 2
    assert "no test calls it; not judged" in printed


def test_every_module_and_every_folder_of_tests_is_there():
    for target in TARGETS:
        assert (ROOT / target.path).is_file()
        assert all((ROOT / tests).exists() for tests in (*target.homes, *target.tests))
    assert [path for path in LEFT_OUT if not (ROOT / path).is_file()] == []
