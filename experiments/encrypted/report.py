"""The encrypted federation in tables."""

from collections.abc import Iterator

from experiments.encrypted.figures import EncryptedResult, RoundFigures, mean_of

PHASES = ("train", "randomize", "encrypt", "upload", "fold", "decrypt")


def table(result: EncryptedResult) -> Iterator[str]:
    """Markdown, one row a round and the mean."""
    yield f"| round | accuracy | {' | '.join(PHASES)} | round in all | MB up | MB down |"
    yield f"|---|---|{'---|' * len(PHASES)}---|---|---|"
    for figures in result.rounds:
        yield _row(str(figures.round), f"{figures.accuracy:.2f} %", figures)


def _row(name: str, accuracy: str, figures: RoundFigures) -> str:
    seconds = [f"{getattr(figures, phase):.3f}" for phase in PHASES]
    cells = [name, accuracy, *seconds, f"{figures.total:.1f}"]
    cells += [f"{octets / 1e6:.2f}" for octets in (figures.bytes_up, figures.bytes_down)]
    return f"| {' | '.join(cells)} |"


def section(result: EncryptedResult) -> str:
    same = "the same model to the last bit" if result.identical else "ANOTHER MODEL"
    worked = mean_of(result.rounds, "folding_cpu") + mean_of(result.rounds, "rerandomising_cpu")
    lines = [
        "## A real encrypted federation",
        "",
        f"{result.clients} client processes, a key server and an aggregator over HTTP on one "
        f"machine; {result.key_bits}-bit keys, MNIST, d = {result.parameters:,}, "
        f"k1 = {result.k1}, k2 = {result.k2}, {result.value_bits}-bit values, "
        f"b = {result.laplace_scale:.4g}. The clients wrote down the integers that they uploaded, "
        f"and the simulation that replays them holds {same} after every round "
        f"(SHA-256 {result.model_sha256[:16]}...).",
        "",
        *table(result),
        "",
        "Seconds on the wall: of clients the mean, where all clients share the machine's cores; "
        "`fold` is from sealing to publishing. Blinding factors are made while a client waits, so "
        f"`encrypt` is what is left to do in the round. The aggregator's workers took {worked:.1f} "
        f"CPU seconds a round to fold and re-randomise. {result.seconds:.0f} s in all, with the "
        "start of all processes.",
    ]
    return "\n".join(lines) + "\n"
