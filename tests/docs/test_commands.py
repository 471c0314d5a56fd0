"""docs/commands.md lists every command and option, as `--help` does."""

import re
import tomllib

import typer

from fedperm_cli.application import application
from fedperm_cli.config_file import options_in
from fedperm_cli.exit_codes import EPILOG, ExitCode
from tests.cli.command_line import fedperm
from tests.cli.test_exit_codes import COMMANDS
from tests.docs.command_reference import DOCUMENT, MARK, reference


def test_the_reference_is_what_the_command_says():
    """If not: python -m tests.docs.command_reference"""
    _, mark, written = DOCUMENT.read_text().partition(MARK)
    assert mark
    assert written == reference() + "\n"


def test_every_command_and_option_of_the_help_is_in_the_reference():
    """By what is printed, not by how the reference is made."""
    sections = dict(
        re.findall(
            r"^#{2,3} fedperm ([\w -]+)\n(.*?)(?=^#{2,3} |\Z)",
            reference(),
            re.MULTILINE | re.DOTALL,
        )
    )
    for name in COMMANDS:
        shown = fedperm(*name.split(), "--help").stdout
        options = set(re.findall(r"(?<![\w-])--[a-z][\w-]+", shown)) - {"--help"}
        assert options
        assert options <= set(re.findall(r"--[a-z][\w-]+", sections[name])), name


def test_the_overview_names_every_command():
    before, _, _ = DOCUMENT.read_text().partition(MARK)
    groups = {name.split()[0] for name in COMMANDS}
    assert groups <= set(re.findall(r"[`\s]([a-z-]+)[`\s]", before))


def test_the_exit_codes_are_those_of_the_code():
    before, _, _ = DOCUMENT.read_text().partition(MARK)
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", before, re.MULTILINE)}
    assert codes == {int(code) for code in ExitCode}
    assert all(str(int(code)) in EPILOG for code in ExitCode)


def test_the_configuration_is_understood(tmp_path):
    (block,) = re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    (tmp_path / "fedperm.toml").write_text(block)
    defaults = options_in(tmp_path / "fedperm.toml", typer.main.get_command(application))
    assert defaults["run"]["create"]["k1"] == tomllib.loads(block)["run"]["create"]["k1"]
    assert defaults["run"]["ls"]["aggregator"].startswith("http://")
