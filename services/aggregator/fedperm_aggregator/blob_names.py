"""The names of blobs: relative, so that a store can be moved, and never used for other bytes.

runs/RUN/initial-model.safetensors
runs/RUN/checkpoint.N.EPOCH.SHA256.safetensors
runs/RUN/rounds/N/uploads/CLIENT.SHA256.safetensors     updates
runs/RUN/rounds/N/KIND/CLIENT.SHA256.safetensors        other submissions
runs/RUN/rounds/N/aggregate.SHA256.safetensors

The names of runs and clients are tame (`wire.message.Name`), so they can be parts of these.
"""

from fedperm.ids import RoundNumber, RunName
from fedperm.wire.statements import UPDATE_KIND
from fedperm_aggregator.records import SealedCheckpoint, SubmissionPlace


def run_folder(run: RunName) -> str:
    return f"runs/{run}"


def initial_model(run: RunName) -> str:
    return f"{run_folder(run)}/initial-model.safetensors"


def checkpoint(kept: SealedCheckpoint) -> str:
    name = f"checkpoint.{kept.round}.{kept.epoch}.{kept.sha256}.safetensors"
    return f"{run_folder(kept.run)}/{name}"


def submissions_folder(kind: str, run: RunName, number: RoundNumber) -> str:
    folder = "uploads" if kind == UPDATE_KIND else kind  # its name when updates were the only kind
    return f"{run_folder(run)}/rounds/{number}/{folder}"


def submission(place: SubmissionPlace, sha256: str) -> str:
    folder = submissions_folder(place.kind, place.run, place.round)
    return f"{folder}/{place.client}.{sha256}.safetensors"


def aggregate(run: RunName, number: RoundNumber, sha256: str) -> str:
    return f"{run_folder(run)}/rounds/{number}/aggregate.{sha256}.safetensors"
