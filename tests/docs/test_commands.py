"""docs/commands.md lists every command and option, as `--help` does."""

import re
import tomllib

import pytest
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


ROOT = DOCUMENT.parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")])


def shown_commands(text: str) -> list[list[str]]:
    """The words of every `fedperm ...`, in blocks and in lines, up to a comment or another one."""
    joined = text.replace("\\\n", " ")
    found = re.findall(r"(?:^|[`\s/])fedperm ((?:--config \S+ )?[a-z][^`\n#;&|>)]*)", joined)
    return [command.removeprefix("--config FILE ").split() for command in found]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_that_documents_show_exist_with_their_options(document):
    for words in shown_commands(document.read_text()):
        names = [" ".join(words[:count]) for count in (2, 1)]
        known = [name for name in names if name in COMMANDS]
        options = {word.partition("=")[0].rstrip(".,:") for word in words if word.startswith("--")}
        if not known:
            assert not options, words
            continue
        own = {option for parameter in COMMANDS[known[0]].params for option in parameter.opts}
        assert options <= own | {"--help"}, words
