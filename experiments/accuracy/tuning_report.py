"""What was tried on held-back images, in tables."""

from collections.abc import Iterator, Sequence

from pydantic import TypeAdapter

from experiments.accuracy.searches import HALF_OF_CLIENTS, IDEAS, SEARCHES, Idea, Search
from experiments.accuracy.setting import CLIENTS, UNCUT, Recipe
from experiments.accuracy.tuning import accuracy_of, best_of, is_whole
from experiments.paper.records import ResultFile


def searches_table(results: ResultFile) -> Iterator[str]:
    yield (
        "| search | the grid | best epoch of small steps | best single step | all, on held-back "
        "images, % | chosen |"
    )
    yield "|---|---|---|---|---|---|"
    for search in _made(SEARCHES, results):
        accuracies = _accuracies(search, results)
        cells = [
            search.name,
            _grid_words([tried.recipe for tried in search.grid]),
            *(_best_of(search, accuracies, in_batches) for in_batches in (True, False)),
            ", ".join(f"{accuracy:.1f}" for accuracy in sorted(accuracies, reverse=True)),
            best_of(search, results).recipe.in_words,
        ]
        yield f"| {' | '.join(cells)} |"


def _grid_words(recipes: Sequence[Recipe]) -> str:
    """The values of what is not the same everywhere."""
    epochs = [recipe for recipe in recipes if recipe.batch_size is not None]
    lists: list[tuple[str, list[float | None]]] = [
        ("learning rates", [recipe.learning_rate for recipe in epochs or recipes]),
        ("batches of", [recipe.batch_size for recipe in epochs]),
        ("cuts", [recipe.clip for recipe in recipes if recipe.clip != UNCUT]),
        ("gradients cut to", [] if epochs else [recipe.record_clip_norm for recipe in recipes]),
    ]
    words = [f"{name} {_values(some)}" for name, some in lists if len(set(some)) > 1]
    if epochs and len(epochs) < len(recipes):
        steps = {recipe.learning_rate for recipe in recipes if recipe.batch_size is None}
        words.append(f"single steps of rate {_values(list(steps))}")
    return "; ".join(words)


def _values(some: Sequence[float | None]) -> str:
    return ", ".join(f"{value:g}" for value in dict.fromkeys(some) if value is not None)


def _best_of(search: Search, accuracies: Sequence[float], in_batches: bool) -> str:
    """Of the grid."""
    found = [
        accuracy
        for tried, accuracy in zip(search.grid, accuracies, strict=False)
        if (tried.recipe.batch_size is not None) is in_batches
    ]
    return f"{max(found):.1f}" if found else ""


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
    yield "| under | idea | accuracy on held-back images, % | the same as in the grid, % |"
    yield "|---|---|---|---|"
    for search in _made(IDEAS, results):
        grid = next(one for one in SEARCHES if one.wish == search.wish)
        as_in_grid = _accuracy_in_grid(grid, search.tried[0].recipe, results)
        for tried, accuracy in zip(search.tried, _accuracies(search, results), strict=True):
            name = search.name.removeprefix("ideas: ")
            yield f"| {name} | {tried.idea} | {accuracy:.2f} | {as_in_grid:.2f} |"


def _accuracy_in_grid(search: Search, recipe: Recipe, results: ResultFile) -> float:
    (number,) = [n for n, tried in enumerate(search.grid) if tried.recipe == recipe]
    return accuracy_of(number, search, results)


def halved_cdp(results: ResultFile) -> dict[str, str]:
    """CDP-FL with half of the clients in a round, z as it was tried."""
    for record in results.records:
        if record.settings["idea"] == HALF_OF_CLIENTS:
            noise = TypeAdapter(float).validate_python(record.result["noise"])
            on_mean = noise / (CLIENTS / 2)
            return {"halved_noise": f"{noise:.4g}", "halved_noise_on_mean": f"{on_mean:.3f}"}
    return {"halved_noise": "not measured", "halved_noise_on_mean": "not measured"}


def _made(searches: Sequence[Search], results: ResultFile) -> list[Search]:
    return [search for search in searches if is_whole(search, results)]


def _accuracies(search: Search, results: ResultFile) -> list[float]:
    return [accuracy_of(number, search, results) for number in range(len(search.tried))]
