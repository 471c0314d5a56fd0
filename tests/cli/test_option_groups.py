"""A dataclass as a group of options: spread on the command line, one object in the command."""

import inspect
from dataclasses import dataclass, field
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from fedperm_cli.option_groups import with_option_groups


@dataclass(frozen=True)
class Place:
    host: Annotated[str, typer.Option("--host", help="Where.")]
    port: int = 80


@dataclass(frozen=True)
class Other:
    port: int = 80
    tag: Annotated[list[str], typer.Option("--tag")] = field(default_factory=list)


seen: list[object] = []


@with_option_groups
def visit(name: str, *, place: Place, loud: bool = False, other: Other) -> None:
    """Says what it got."""
    seen[:] = [name, place, loud, other]


@pytest.fixture
def application() -> typer.Typer:
    application = typer.Typer()
    application.command()(visit)
    return application


def test_a_command_gets_its_groups_as_objects(application: typer.Typer) -> None:
    arguments = ["me", "--host", "here", "--port", "8", "--loud", "--tag", "a", "--tag", "b"]
    result = CliRunner().invoke(application, [*arguments])
    assert result.exit_code == 0, result.output
    assert seen == ["me", Place("here", 8), True, Other(8, ["a", "b"])]


def test_defaults_are_the_fields_own(application: typer.Typer) -> None:
    assert CliRunner().invoke(application, ["me", "--host", "here"]).exit_code == 0
    assert seen == ["me", Place("here"), False, Other()]


def test_a_field_without_default_is_a_required_option(application: typer.Typer) -> None:
    assert CliRunner().invoke(application, ["me"]).exit_code == 2


def test_options_of_the_same_name_are_one() -> None:
    assert list(inspect.signature(visit).parameters) == ["name", "host", "port", "loud", "tag"]
    assert visit.__doc__ == "Says what it got."
