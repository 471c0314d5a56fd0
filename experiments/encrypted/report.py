"""The encrypted federation in words and a table."""

from collections.abc import Iterator

from experiments.accuracy.setting import Recipe
from experiments.encrypted.figures import EncryptedResult, RoundFigures, mean_of
from experiments.encrypted.measured import recipe_in, result_in
from experiments.paper.records import ResultFile

PHASES = ("train", "randomize", "encrypt", "upload", "fold", "decrypt")


def section(results: ResultFile) -> str:
    """Empty before it was measured."""
    result = result_in(results)
    return "" if result is None else "\n".join(_lines(result, recipe_in(results)))


def table(result: EncryptedResult) -> Iterator[str]:
    """One row a round."""
    seconds = " | ".join(f"{phase}, s" for phase in PHASES)
    yield f"| round | accuracy | {seconds} | round in all, s | MB up, all | MB down, all |"
    yield f"|---|---|{'---|' * len(PHASES)}---|---|---|"
    for figures in result.rounds:
        yield _row(figures)


def _row(figures: RoundFigures) -> str:
    seconds = [f"{getattr(figures, phase):.3f}" for phase in PHASES]
    cells = [str(figures.round), f"{figures.accuracy:.2f} %", *seconds, f"{figures.total:.1f}"]
    cells += [f"{octets / 1e6:.2f}" for octets in (figures.bytes_up, figures.bytes_down)]
    return f"| {' | '.join(cells)} |"


def _lines(result: EncryptedResult, recipe: Recipe) -> Iterator[str]:
    same = "the same model to the last bit" if result.identical else "ANOTHER MODEL"
    yield "## A real encrypted federation"
    yield ""
    yield (
        f"{result.clients} client processes, a key server and an aggregator over HTTP on one "
        f"machine: {result.key_bits}-bit keys, MNIST, d = {result.parameters:,}, k1 = {result.k1}, "
        f"k2 = {result.k2}, {result.value_bits}-bit values, b = {result.laplace_scale:.4g}. These "
        "are the first rounds of the light setting, with the noise for all 50 and trained as in "
        f"the tables above ({recipe.in_words}). The clients wrote "
        "down the integers that they uploaded and how they had shuffled them; the simulation that "
        f"replays these integers holds **{same}** after every round (SHA-256 of the last "
        f"`{result.model_sha256[:16]}`)."
    )
    yield ""
    yield from table(result)
    yield ""
    worked = mean_of(result.rounds, "folding_cpu") + mean_of(result.rounds, "rerandomising_cpu")
    yield (
        "Seconds on the wall, of clients the mean, while all of them share the machine's cores; "
        "`fold` is from sealing to publishing. Blinding factors are made while a client waits: "
        "`encrypt` is what is left for the round, and in the first there was no time to wait. "
        "Phases are means and do not add up to a round, which its slowest client ends; what the "
        "rest of it went into was not measured. "
        f"Folding and re-randomising took {worked:.1f} CPU seconds a round. "
        f"{result.seconds:.0f} s in all, the start of all processes included."
    )
