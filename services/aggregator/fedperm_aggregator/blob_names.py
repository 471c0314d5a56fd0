"""The names of blobs: relative, so that a store can be moved, and never used for other bytes.

runs/RUN/initial-model.safetensors
runs/RUN/rounds/N/uploads/CLIENT.SHA256.safetensors
runs/RUN/rounds/N/aggregate.SHA256.safetensors

The names of runs and clients are tame (`wire.message.Name`), so they can be parts of these.
"""


def run_folder(run: str) -> str:
    return f"runs/{run}"


def initial_model(run: str) -> str:
    return f"{run_folder(run)}/initial-model.safetensors"


def uploads_folder(run: str, number: int) -> str:
    return f"{run_folder(run)}/rounds/{number}/uploads"


def upload(run: str, number: int, client: str, sha256: str) -> str:
    return f"{uploads_folder(run, number)}/{client}.{sha256}.safetensors"


def aggregate(run: str, number: int, sha256: str) -> str:
    return f"{run_folder(run)}/rounds/{number}/aggregate.{sha256}.safetensors"
