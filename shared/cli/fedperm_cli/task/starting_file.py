"""The file that somebody's own task begins with: it runs as it is."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from fedperm_cli.client_code import client_code
from fedperm_cli.errors import DirectoryError, OptionsError

_NAME_IN_TEMPLATE = "my_task.py"
CLASS = "MyTask"


@dataclass(frozen=True)
class StartingFile:
    """Its fields are the command's JSON."""

    file: str
    task: str


def write_starting_file(path: Path) -> StartingFile:
    """Never over another file."""
    if path.suffix != ".py":
        raise OptionsError(f"{path} is no Python file", "choose a name that ends in .py")
    with client_code("the starting file is part of the client's code"):
        template = files("fedperm_client.tasks").joinpath("template.py").read_text()
    try:
        with path.open("x") as file:
            file.write(template.replace(_NAME_IN_TEMPLATE, str(path)))
    except FileExistsError:
        raise OptionsError(f"{path} is there already", "choose another name") from None
    except OSError as error:
        raise DirectoryError(f"cannot write {path}: {error.strerror}", "choose another") from None
    return StartingFile(str(path), f"{path}:{CLASS}")
