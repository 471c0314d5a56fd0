"""What was tried on held-back images, in tables."""

from collections.abc import Iterator, Sequence

from pydantic import TypeAdapter

from experiments.accuracy.searches import HALF_OF_CLIENTS, IDEAS, SEARCHES, Idea, Search
from experiments.accuracy.setting import CLIENTS
from experiments.accuracy.tuning import accuracy_of, best_of, is_whole
from experiments.paper.records import ResultFile


def searches_table(results: ResultFile) -> Iterator[str]:
    yield "| search | tried | accuracies on held-back images, % | chosen |"
    yield "|---|---|---|---|"
    for search in _made(SEARCHES, results):
        accuracies = sorted(_accuracies(search, results), reverse=True)
        cells = [
            search.name,
            str(len(search.tried)),
            ", ".join(f"{accuracy:.1f}" for accuracy in accuracies),
            best_of(search, results).recipe.in_words,
        ]
        yield f"| {' | '.join(cells)} |"


def second_looks_table(results: ResultFile) -> Iterator[str]:
    """What clients made of the averages, beside the best of the grid."""
    yield f"| search | best of the grid | {' | '.join(Idea)} |"
    yield f"|---|---|{'---|' * len(Idea)}"
    for search in _made(SEARCHES, results):
        accuracies = _accuracies(search, results)
        ideas = {t.idea: a for t, a in zip(search.tried, accuracies, strict=True)}
        cells = [max(accuracies[: len(search.grid)]), *(ideas[idea] for idea in Idea)]
        yield f"| {search.name} | {' | '.join(f'{cell:.2f}' for cell in cells)} |"


def ideas_table(results: ResultFile) -> Iterator[str]:
    yield "| under | idea | accuracy on held-back images, % |"
    yield "|---|---|---|"
    for search in _made(IDEAS, results):
        for tried, accuracy in zip(search.tried, _accuracies(search, results), strict=True):
            yield f"| {search.name.removeprefix('ideas: ')} | {tried.idea} | {accuracy:.2f} |"


def halved_cdp(results: ResultFile) -> dict[str, str]:
    """CDP-FL with half of the clients in a round, z as it was tried."""
    for record in results.records:
        if record.settings["idea"] == HALF_OF_CLIENTS:
            noise = TypeAdapter(float).validate_python(record.result["noise"])
            on_mean = noise / (CLIENTS / 2)
            return {"halved_noise": f"{noise:.2f}", "halved_noise_on_mean": f"{on_mean:.3f}"}
    return {"halved_noise": "not measured", "halved_noise_on_mean": "not measured"}


def _made(searches: Sequence[Search], results: ResultFile) -> list[Search]:
    return [search for search in searches if is_whole(search, results)]


def _accuracies(search: Search, results: ResultFile) -> list[float]:
    return [accuracy_of(number, search, results) for number in range(len(search.tried))]
