"""What a run's document says, and how two differ, in a line."""

from collections.abc import Iterator

from fedperm.run_document import RunDocument


def in_words(document: RunDocument) -> str:
    scale, rounds = document.noise.laplace_scale, document.rounds
    at_most = "up to " if rounds.start_with < rounds.clients_per_round else ""
    model = document.task.options.get("model")
    return (
        f"{rounds.count} rounds of {at_most}{rounds.clients_per_round} clients, "
        f"{document.task.name}{' with logistic regression' if model == 'logistic' else ''} "
        f"(d = {document.model.parameters:,}), "
        f"k1 = {document.shuffle.k1}, k2 = {document.shuffle.k2}, "
        + (f"noise of scale b = {scale:.4g}" if scale else "no noise")
    )


def differences(wanted: RunDocument, there: RunDocument) -> Iterator[str]:
    """The members of two documents that are not the same, one level deep where they have members:
    `rounds.count`."""
    ours, theirs = wanted.model_dump(), there.model_dump()
    for name, value in ours.items():
        other = theirs[name]
        if value == other:
            continue
        if isinstance(value, dict) and isinstance(other, dict):
            inner = sorted(value.keys() | other.keys())
            yield from (f"{name}.{key}" for key in inner if value.get(key) != other.get(key))
        else:
            yield name
