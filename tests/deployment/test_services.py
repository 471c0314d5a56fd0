"""Files that cannot import `fedperm.services` agree with it: the compose file, the Dockerfiles, the
packaging and the documents. A new service that is missing from one of them fails."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from fedperm.services import AGGREGATOR, CLIENT, KEY_SERVER, SERVICES, ServiceSpec, programs
from fedperm.web.server_settings import ServerSettings
from fedperm_client.settings import ClientSettings
from tests.aggregator.bench import Aggregator, quick_folder
from tests.architecture.test_imports import PACKAGES
from tests.keyserver.server import MovingClock, Server

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
KNOBS = dict(re.findall(r"^#([A-Z0-9_]+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE))
SECRETS, STATE, PREPARED = "/run/fedperm", "/var/lib/fedperm", "/deployment"

each_service = pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)
each_program = pytest.mark.parametrize("program", programs(), ids=lambda program: program.name)


def text(*parts: str) -> str:
    return ROOT.joinpath(*parts).read_text()


def settings_of(service: ServiceSpec) -> type[ServerSettings]:
    found = vars(import_module(f"{service.module}.settings")).values()
    (settings,) = [
        one for one in found if isinstance(one, type) and ServerSettings in one.__bases__
    ]
    return settings


def test_what_others_rely_on_has_these_values():
    """On the wire, in scripts and in firewalls."""
    assert [(s.name, s.port, s.env_prefix, s.audience, s.scope) for s in SERVICES.values()] == [
        ("keyserver", 8441, "FEDPERM_KEYSERVER_", "fedperm-keyserver", "secret-keys"),
        ("aggregator", 8100, "FEDPERM_AGGREGATOR_", "fedperm-aggregator", "participate"),
    ]
    assert CLIENT.env_prefix == "FEDPERM_CLIENT_"


def test_no_two_services_share_what_tells_them_apart():
    for member in ("name", "module", "audience", "scope", "port", "operator"):
        assert len({getattr(service, member) for service in SERVICES.values()}) == len(SERVICES)


@each_service
def test_a_services_settings_are_its_own(service):
    settings = settings_of(service)
    assert settings.spec is service
    assert settings.model_config["env_prefix"] == service.env_prefix
    assert settings.model_fields["port"].default == service.port
    assert set(service.secret_settings()) <= set(settings.model_fields)


@pytest.mark.anyio
async def test_a_server_calls_itself_by_its_name():
    with quick_folder() as folder:
        clock = MovingClock()
        servers = {KEY_SERVER: Server(folder, clock), AGGREGATOR: Aggregator(folder, clock)}
        for service, server in servers.items():
            assert (await server.http.get("/version")).json()["service"] == service.name
            assert server.app.title == f"FedPerm {service.title}"
            server.close()


def test_the_client_is_told_where_every_service_is():
    assert {f"{name}_url" for name in SERVICES} <= set(ClientSettings.model_fields)
    environment = COMPOSE[CLIENT.name]["environment"]
    for service in SERVICES.values():
        variable = f"{CLIENT.env_prefix}{service.name.upper()}_URL"
        assert environment[variable] == f"https://{service.name}:{service.port}"


def test_the_containers_with_images_of_ours_are_these():
    images = {options["image"] for options in COMPOSE.values() if "build" in options}
    assert images == {program.distribution for program in programs()} | {"fedperm-operator"}


@each_service
def test_a_services_container_is_set_by_its_entry(service):
    options = COMPOSE[service.name]
    known = set(settings_of(service).model_fields)
    environment = {
        name.removeprefix(service.env_prefix).lower(): value
        for name, value in options["environment"].items()
    }
    assert options["image"] == service.distribution
    assert set(environment) <= known
    for setting, secret in service.secret_settings().items():
        assert environment[setting] == f"{SECRETS}/{secret}"
    assert options["volumes"] == [
        f"{service.name}-secrets:{SECRETS}:ro",
        f"{service.name}-state:{STATE}",
    ]
    port = f"{service.name.upper()}_PORT"
    assert options["ports"] == [f"127.0.0.1:${{{port}:-{service.port}}}:{service.port}"]
    probe = ["CMD", "python", "-m", "fedperm.web.probe"]
    probed = [f"https://localhost:{service.port}/readyz", f"{SECRETS}/ca.pem"]
    assert options["healthcheck"]["test"] == [*probe, *probed]


@each_service
def test_the_one_shot_containers_know_every_service(service):
    variable = f"FEDPERM_INIT_{service.name.upper()}_NAMES"
    init, operator = COMPOSE["init"], COMPOSE["operator"]
    assert init["environment"][variable] == f"${{{service.name.upper()}_NAMES:-}}"
    assert f"{service.name}-secrets:{PREPARED}/{service.name}" in init["volumes"]
    address = operator["environment"][f"FEDPERM_{service.name.upper()}"]
    assert address == f"https://{service.name}:{service.port}"
    token = operator["environment"][f"FEDPERM_{service.operator.upper()}_OPERATOR_TOKEN_FILE"]
    assert token == f"{SECRETS}/{service.operator_token}"
    assert f"deployment/{service.name} " in text("services", "client", "Dockerfile")


@each_service
def test_the_example_of_knobs_has_every_service(service):
    assert KNOBS[f"{service.name.upper()}_PORT"] == str(service.port)
    assert f"{service.name.upper()}_NAMES" in KNOBS


@each_program
def test_an_image_runs_the_program_that_the_list_names(program):
    dockerfile = text("services", program.name, "Dockerfile")
    assert f'ENTRYPOINT ["python", "-m", "{program.module}"]' in dockerfile
    assert f"{program.env_prefix}STATE_DIRECTORY={STATE}" in dockerfile
    ports = [str(program.port)] if isinstance(program, ServiceSpec) else []
    assert re.findall(r"^EXPOSE (.*)$", dockerfile, re.MULTILINE) == ports


@each_program
def test_a_program_is_a_package_of_this_repository(program):
    home = f"services/{program.name}"
    project = tomllib.loads(text(home, "pyproject.toml"))["project"]
    assert project["name"] == program.distribution
    makefile = text("Makefile")
    assert home in re.findall(r"^PROJECTS := (.*)$", makefile, re.MULTILINE)[0].split()
    assert program.name in re.findall(r"docker compose logs --follow (.* .*)", makefile)[0].split()
    tools = tomllib.loads(text("pyproject.toml"))["tool"]
    assert program.module in tools["mypy"]["packages"]
    assert home in tools["mypy"]["mypy_path"].split(":")
    assert program.module in tools["ruff"]["lint"]["isort"]["known-first-party"]
    assert PACKAGES[program.module] == home


@each_program
def test_the_documents_name_every_program(program):
    operations = text("docs", "operations.md")
    heading = f"| {program.title}: `{program.env_prefix}` | default | |\n"
    assert heading in operations
    assert f"| `{program.name}` |" in text("docs", "deployment.md")
    design = text("docs", "design.md")
    assert f"| `services/{program.name}` | `{program.module}` |" in design
    if isinstance(program, ServiceSpec):
        table = operations.partition(heading)[2].partition("\n\n")[0]
        (defaults,) = re.findall(r"^\| `HOST`, `PORT`.*?\| ([^|]*) \|", table, re.MULTILINE)
        assert defaults.split(", ")[1] == str(program.port)
        assert f"| `{program.name}` | port {program.port} |" in text("docs", "deployment.md")
        protocol = text("docs", "protocol.md")
        assert f"`{program.audience}` (scope `{program.scope}`)" in protocol
        assert f"`{program.name}`" in re.findall(r"\(`service`: (.*?), `version`", protocol)[0]
