"""`fedperm dashboard`: the aggregator's page, served here and with what the operator can open."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from fedperm_cli.dashboard.options import PageOptions
from fedperm_cli.operator.options import OperatorKeyFile
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json, stdout
from fedperm_cli.progress_lines import tell_on
from fedperm_cli.servers.options import AsRunOperator


@with_option_groups
def dashboard(
    *, access: AsRunOperator, key_file: OperatorKeyFile, page: PageOptions, output: Output
) -> None:
    """Serve the dashboard on this machine, for a browser here, until Ctrl-C.

    It is the aggregator's page with what clients seal to the run operator: accuracy and loss.
    Prints its address as a link that logs in once, and another link whenever one was used. With
    --json one object a line, with the link. The aggregator may restart meanwhile.
    """
    from fedperm_cli.dashboard.page import Page  # noqa: PLC0415 (a web server takes its time)

    tell = _as_json if output.is_json() else _in_words(access.aggregator, page.link_file)
    identity = key_file.found()
    asyncio.run(_check(access))
    Page(access, identity, page, tell).serve()


async def _check(access: AsRunOperator) -> None:
    """Whoever gave a wrong address or token hears of it here, not in the browser."""
    async with access.session() as operator:
        await operator.api.runs(operator.token)


def _as_json(link: str) -> None:
    print_json(json.dumps({"link": link}))


def _in_words(aggregator: str, link_file: Path | None) -> Callable[[str], None]:
    tell, used = tell_on(stdout()), False
    how = "opens once" if link_file is None else f"the rest of the link is in {link_file}"

    def tell_link(link: str) -> None:
        nonlocal used
        if not used:
            tell("aggregator", aggregator)
        tell("next link" if used else "dashboard", f"{link} ({how})")
        used = True

    return tell_link
