"""The options of `fedperm dashboard` that say where its page is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

PORT = 8200


def _option(name: str, words: str, **more: Any) -> Any:
    """`--name`, and the variable FEDPERM_DASHBOARD_NAME."""
    variable = f"FEDPERM_DASHBOARD_{name.replace('-', '_').upper()}"
    return typer.Option(f"--{name}", envvar=variable, rich_help_panel="Page", help=words, **more)


@dataclass(frozen=True)
class PageOptions:
    port: Annotated[
        int, _option("port", "Of this machine; 0 takes a free one.", min=0, max=65535)
    ] = PORT
    host: Annotated[
        str,
        _option(
            "host",
            "Listen there. In a container 0.0.0.0, with the port published to the machine's own "
            "browsers alone: there is no TLS, and no other name than localhost is answered.",
        ),
    ] = "127.0.0.1"
    address: Annotated[
        str | None,
        _option(
            "address",
            "What browsers call it, where something in between has another port.",
            metavar="URL",
            show_default="http://127.0.0.1 and the port",
        ),
    ] = None
    link_file: Annotated[
        Path | None,
        _option(
            "link-file",
            "Keep the newest login link there, for you alone, instead of printing it.",
            metavar="FILE",
            dir_okay=False,
            show_default=False,
        ),
    ] = None
