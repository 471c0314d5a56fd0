"""Tasks for people."""

from fedperm_cli.measures import UNKNOWN, as_share
from fedperm_cli.pages import facts, show
from fedperm_cli.task.starting_file import StartingFile
from fedperm_cli.task.trial import TaskFacts, TensorFacts

_PROTECTED = "a run with --clip-norm-record can protect single records"


def print_starting_file(written: StartingFile) -> None:
    show(
        f"{written.file} holds the class of a task that runs as it is. Put your model and data in, "
        "and try it out:",
        f"  fedperm check-task {written.task}",
    )


def print_task(found: TaskFacts) -> None:
    show(
        facts(
            ("task", found.task),
            ("trained", f"{found.parameters:,} parameters (d) in {_words(found.tensors)}"),
            ("not trained", f"{found.constants:,} values, the same at every client"),
            ("records", f"{found.records:,} in this part, mean loss {found.loss:.4g} at first"),
            ("test records", _test(found)),
            ("protection", found.unprotected or _PROTECTED),
            *(("warning", warning) for warning in found.warnings),
        ),
        "",
        "a client would train it. What a run of it costs:",
        f"  fedperm plan --d {found.parameters} --clients N",
    )


def _words(tensors: tuple[TensorFacts, ...]) -> str:
    first = ", ".join(f"{tensor.name} {list(tensor.shape)}" for tensor in tensors[:4])
    return first if len(tensors) <= 4 else f"{first} and {len(tensors) - 4} more tensors"


def _test(found: TaskFacts) -> str:
    if found.test_records is None:
        return f"{UNKNOWN} (no accuracy can be reported)"
    return (
        f"{found.test_records:,}, mean loss {found.test_loss:.4g}, accuracy "
        f"{as_share(found.test_accuracy)} at first"
    )
