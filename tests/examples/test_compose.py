"""deploy/own-task.yml fits the compose file, and names settings that exist and an example."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import yaml

from fedperm_cli.deployment.options import OperationOptions, check_operation
from fedperm_client.settings import ClientSettings

ROOT = Path(__file__).parents[2]
BASE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
OWN = yaml.safe_load((ROOT / "deploy" / "own-task.yml").read_text())["services"]


def default(value: str) -> str:
    """With no knob turned."""
    return re.sub(r"\$\{[A-Z0-9_]+:-([^}]*)\}", r"\1", str(value))


def environment(service: str, prefix: str) -> dict[str, Any]:
    given = OWN[service]["environment"].items()
    return {name.removeprefix(prefix).lower(): default(value) for name, value in given}


def test_it_adds_to_services_that_exist():
    assert set(OWN) <= set(BASE)


def test_the_operator_is_given_a_whole_recipe():
    given = environment("operator", "FEDPERM_OPERATOR_")
    known = {field.name for field in dataclasses.fields(OperationOptions)}
    assert set(given) <= known
    numbers = {name: float(given[name]) for name in ("learning_rate", "clip", "clip_norm_record")}
    wanted = {**given, **numbers, "k1": int(given["k1"])}
    check_operation(OperationOptions(token_file=Path("token"), **wanted))


def test_operator_and_clients_have_the_same_task_and_run():
    client = environment("client", "FEDPERM_CLIENT_")
    assert set(client) <= set(ClientSettings.model_fields)
    operator = environment("operator", "FEDPERM_OPERATOR_")
    assert (client["task"], client["run"]) == (operator["task"], operator["run"])
    path, _, name = client["task"].partition(":")
    assert f"class {name}:" in (ROOT / "examples" / Path(path).name).read_text()


def test_the_task_and_its_data_are_mounted_and_only_read():
    for service in OWN.values():
        assert all(volume.endswith(":ro") for volume in service["volumes"])
        places = dict(default(volume).split(":")[:2] for volume in service["volumes"])
        assert set(places.values()) == {"/tasks", "/data"}
        assert all((ROOT / source).is_dir() for source in places)
