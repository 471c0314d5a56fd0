"""Where a model lies: a file, or the state directory of the client that has it."""

from pathlib import Path

from fedperm.errors import ParameterError
from fedperm.ids import RunName

FINAL, CHECKPOINT = "model.safetensors", "checkpoint.safetensors"
"""After the last round, and between two; as `fedperm_client.state_directory` names them."""


def model_file(place: Path, run: RunName | None) -> Path:
    """The final model if there is one, else the newest checkpoint."""
    if place.is_file():
        if run is not None:
            raise ParameterError(f"{place} is one model", "leave out --run")
        return place
    if not place.is_dir():
        raise ParameterError(f"there is no {place}", "name a model or a client's state directory")
    folder = _run_folder(place, run)
    for name in (FINAL, CHECKPOINT):
        if (folder / name).exists():
            return folder / name
    raise ParameterError(f"{folder} holds no model yet", "wait for the run's first round")


def _run_folder(state: Path, run: RunName | None) -> Path:
    runs = sorted(folder.name for folder in (state / "runs").glob("*") if folder.is_dir())
    if run is None and len(runs) == 1:
        return state / "runs" / runs[0]
    if run is None or run not in runs:
        known = ", ".join(runs) or "none: is it a client's state directory?"
        wanted = f"no run {run}" if run else f"{len(runs)} runs"
        raise ParameterError(f"{state} has {wanted}", f"choose one with --run: {known}")
    return state / "runs" / run
