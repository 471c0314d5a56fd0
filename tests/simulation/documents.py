"""The runs that are simulated: small, with raw integers or with noise and ledgers."""

from pathlib import Path
from typing import Any

from fedperm.run_document import FrozenDocument, RunDocument
from fedperm.wire.model import Parameters, decode_model
from fedperm_client.initial_model import InitialModel, initial_model
from tests.documents.operator import OPERATOR_KEYS, signed
from tests.simulation import unit_task

TASK = f"{Path(unit_task.__file__)}:Unit"
INITIAL: InitialModel = initial_model(TASK, {}, seed=0)

WITHOUT_PRIVACY: dict[str, Any] = {"accept_no_privacy": True}
WITH_LEDGER: dict[str, Any] = {"max_epsilon": 1000.0, "accountant": "no-shuffle-rdp"}
"""A client's settings."""


def document(rounds: int, signing_key: str, *, noised: bool) -> FrozenDocument:
    """`noised`: values of 6 bits with Laplace noise, so that clients keep ledgers."""
    content = {
        "run": "demo",
        "task": {"name": "unit", "options": {"shards": unit_task.PARAMETERS}},
        "model": INITIAL.spec.model_dump(),
        "training": {"learning_rate": 1.0},
        "shuffle": {"k1": 4, "k2": 2},
        "noise": {"clip": 1.0, "laplace_scale": 0.5 if noised else 0.0},
        "value_bits": 6 if noised else 1,
        "norm_bound": None,
        "rounds": {
            "count": rounds,
            "clients_per_round": 4,
            "min_contributors": 2,
            "start_with": 3,
            "deadline_seconds": 60.0,
            "extension_seconds": 20.0,
            "extensions": 1,
            "give_up_after": 1000,
        },
        "key": {"key": "main", "parameters": {"key_bits": 512}, "signing_key": signing_key},
        "operator": OPERATOR_KEYS,
        "insecure_for_tests": True,
    }
    return signed(RunDocument.model_validate(content))


def initial_parameters() -> Parameters:
    return decode_model(INITIAL.body, INITIAL.spec.parameters)
