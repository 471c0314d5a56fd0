"""Small run documents; every test changes what it is about."""

from pathlib import Path
from typing import Any

from fedperm.norm_bound import honest_limit
from fedperm.run_document import RunDocument
from fedperm.windows import Geometry
from fedperm_client.initial_model import InitialModel, initial_model
from tests.documents.operator import OPERATOR_KEYS

OWN_TASK = f"{Path(__file__).parents[1] / 'tasks' / 'own_task.py'}:Lines"
DIGITS = initial_model("digits", {}, seed=0)
LINES = initial_model(OWN_TASK, {}, seed=0)
SIGNING_KEY = "B" * 42 + "A"
LAPLACE_SCALE = 0.5


def document(initial: InitialModel = DIGITS, **changes: Any) -> RunDocument:
    """Three clients, three rounds, digits, 512-bit keys; members in `changes` replace others."""
    content = {
        "run": "demo",
        "task": {"name": "digits", "options": {"shards": 3, "alpha": 100.0}},
        "model": initial.spec.model_dump(),
        "training": {"learning_rate": 0.5},
        "shuffle": {"k1": 130, "k2": 1},
        "noise": {"clip": 0.1, "laplace_scale": LAPLACE_SCALE},
        "value_bits": 10,
        "rounds": {
            "count": 3,
            "clients_per_round": 3,
            "min_contributors": 2,
            "start_with": 3,
            "deadline_seconds": 60.0,
            "extension_seconds": 30.0,
        },
        "key": {"key": "main", "parameters": {"key_bits": 512}, "signing_key": SIGNING_KEY},
        "operator": OPERATOR_KEYS,
        "insecure_for_tests": True,
    }
    content |= changes
    geometry = Geometry(initial.spec.parameters, content["shuffle"]["k1"], 1)
    limit = honest_limit(geometry.padded_d, content["noise"]["laplace_scale"])
    return RunDocument.model_validate({"norm_bound": {"limit": limit}, **content})


def rounds(**changes: Any) -> dict[str, Any]:
    """Of the smallest run there is: two clients, two rounds."""
    smallest = {"count": 2, "clients_per_round": 2, "start_with": 2}
    return document().rounds.model_dump() | smallest | changes


def lines_document(**changes: Any) -> RunDocument:
    """The smallest run, with two parameters."""
    small = {
        "task": {"name": "lines", "options": {"count": 16, "shards": 3}},
        "shuffle": {"k1": 2, "k2": 1},
        "rounds": rounds(),
    }
    return document(LINES, **(small | changes))
