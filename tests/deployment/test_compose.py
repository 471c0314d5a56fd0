"""The compose file, its knobs in .env.example and the commands they configure agree."""

import dataclasses
import re
from pathlib import Path

import pytest
import yaml

from fedperm.services import AGGREGATOR, CLIENT, KEY_SERVER, SERVICES
from fedperm_cli.dashboard.options import PORT
from fedperm_cli.deployment.options import OperationOptions
from fedperm_client.settings import ClientSettings
from tests.cli.test_exit_codes import COMMANDS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docker-compose.yml").read_text()
COMPOSE = yaml.safe_load(TEXT)
OWN_SERVICES = [
    name for name, service in COMPOSE["services"].items() if "fedperm-" in service["image"]
]
OPERATION = {field.name for field in dataclasses.fields(OperationOptions)}
KNOB_LINE = re.compile(r"^#([A-Z][A-Z0-9_]*)=(.*)$")


def explained_knobs() -> dict[str, str]:
    lines = (ROOT / ".env.example").read_text().splitlines()
    return dict(match.groups() for line in lines if (match := KNOB_LINE.match(line)))


def used_knobs() -> dict[str, str]:
    """${NAME:-default}."""
    return dict(re.findall(r"\$\{([A-Z0-9_]+):-([^}]*)\}", TEXT))


def test_every_line_of_the_example_is_blank_a_comment_or_a_knob():
    for line in (ROOT / ".env.example").read_text().splitlines():
        assert not line or line.startswith("# ") or KNOB_LINE.match(line), line


def test_every_knob_is_used_and_explained():
    assert re.findall(r"\$\{([A-Z0-9_]+)[^A-Z0-9_:]", TEXT) == []  # all have a default
    assert explained_knobs().keys() == used_knobs().keys()


def test_explained_defaults_are_those_of_the_compose_file():
    used = used_knobs()
    for name, value in explained_knobs().items():
        if used[name]:
            assert value == used[name], name


def test_blank_defaults_are_those_of_the_command():
    """What compose leaves blank, the operator's command fills in."""
    fields = {field.name: field.default for field in dataclasses.fields(OperationOptions)}
    operator = COMPOSE["services"]["operator"]["environment"]
    checked = 0
    for variable, value in operator.items():
        match = re.fullmatch(r"\$\{([A-Z0-9_]+):-\}", str(value))
        if match and variable.startswith("FEDPERM_OPERATOR_"):
            default = fields[variable.removeprefix("FEDPERM_OPERATOR_").lower()]
            said = explained_knobs()[match[1]]
            assert said == "" if default is None else type(default)(said) == default, variable
            checked += 1
    assert checked > 10


@pytest.mark.parametrize(
    ("service", "prefix", "known"),
    [
        ("operator", "FEDPERM_OPERATOR_", OPERATION),
        ("load-operator", "FEDPERM_OPERATOR_", OPERATION),
        ("client", CLIENT.env_prefix, set(ClientSettings.model_fields)),
        ("load-client", CLIENT.env_prefix, set(ClientSettings.model_fields)),
    ],
)
def test_every_variable_is_a_setting(service, prefix, known):
    given = {
        name.removeprefix(prefix).lower()
        for name in COMPOSE["services"][service]["environment"]
        if name.startswith(prefix)
    }
    assert given
    assert given <= known


@pytest.mark.parametrize("service", OWN_SERVICES)
def test_our_containers_have_no_more_rights_than_they_need(service):
    options = COMPOSE["services"][service]
    assert options["read_only"]
    assert options["cap_drop"] == ["ALL"]
    assert options["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in options


def test_key_server_and_aggregator_share_no_network():
    services = COMPOSE["services"]
    ours, theirs = (set(services[s.name]["networks"]) for s in (KEY_SERVER, AGGREGATOR))
    assert ours.isdisjoint(theirs)
    assert services["init"]["network_mode"] == "none"


def test_ports_are_open_to_this_host_only():
    for service in COMPOSE["services"].values():
        for port in service.get("ports", []):
            assert str(port).startswith("127.0.0.1:")


def test_the_dashboard_is_the_command_with_options_that_it_has():
    service = COMPOSE["services"]["dashboard"]
    (command,) = service["command"]
    variables = {parameter.envvar for parameter in COMMANDS[command].params}
    assert set(service["environment"]) <= variables
    (port,) = service["ports"]
    assert port == f"127.0.0.1:${{DASHBOARD_PORT:-{PORT}}}:{PORT}"
    address = service["environment"]["FEDPERM_DASHBOARD_ADDRESS"]
    assert address == f"http://127.0.0.1:${{DASHBOARD_PORT:-{PORT}}}"


def test_secrets_are_mounted_read_only_and_only_where_they_belong():
    mounted = {
        volume.partition(":")[0]: set()
        for service in COMPOSE["services"].values()
        for volume in service.get("volumes", [])
    }
    for name, service in COMPOSE["services"].items():
        for volume in service.get("volumes", []):
            mounted[volume.partition(":")[0]].add(name)
            if "-secrets:" in volume and name != "init" and "client-secrets" not in volume:
                assert ":ro" in volume, (name, volume)
    assert mounted["authority"] == {"init"}
    for name in SERVICES:
        assert mounted[f"{name}-secrets"] == {"init", name}
        assert mounted[f"{name}-state"] == {name}
    assert mounted["operator-secrets"] == {"init", "operator", "load-operator", "dashboard"}


def test_every_container_has_limits_of_memory_and_processes():
    for name, service in COMPOSE["services"].items():
        assert re.fullmatch(r"(\$\{[A-Z]+_MEMORY:-)?\d+[mg]\}?", str(service["mem_limit"])), name
        assert 0 < service["pids_limit"] <= 1024, name


def test_monitoring_reaches_what_it_scrapes_and_nothing_else():
    """Each server on a network of the two alone; Grafana meets neither."""
    services, networks = COMPOSE["services"], COMPOSE["networks"]
    on = {network: {n for n, s in services.items() if network in s.get("networks", [])}
          for network in networks}  # fmt: skip
    for name in SERVICES:
        assert on[f"{name}-metrics"] == {name, "prometheus"}
        assert networks[f"{name}-metrics"] == {"internal": True}
    assert on["monitoring"] == {"prometheus", "grafana"}
    assert services["grafana"]["networks"] == ["monitoring"]
    assert set(services["prometheus"]["networks"]).isdisjoint({"keys", "training"})
    assert services["prometheus"]["sysctls"] == {"net.ipv4.ip_forward": 0}
