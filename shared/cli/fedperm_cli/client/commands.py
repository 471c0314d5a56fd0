"""`fedperm client token`, `ls` and `revoke`."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fedperm.clock import SystemClock
from fedperm.ids import ClientName, KeyName, RunName
from fedperm.wire.key_server import ClientList, TokenList, TokenRequest
from fedperm_cli.client.pages import print_clients, print_revocation, print_token
from fedperm_cli.client.revocation import Revoked, revoke_at_key_server, revoke_everywhere
from fedperm_cli.client.tokens import IssuedToken, check_new, issue_token, token_request
from fedperm_cli.exit_codes import EPILOG
from fedperm_cli.names import ClientArgument, KeyArgument, RunNames, checked_name
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json
from fedperm_cli.servers.options import AsKeyOperator, AsRunOperatorIfNeeded

client_commands = typer.Typer(
    no_args_is_help=True, help="Let clients in, list and revoke them (key operator)."
)

_LONGEST_HOURS = 365 * 24


@client_commands.command(epilog=EPILOG)
@with_option_groups
def token(
    key: KeyArgument,
    *,
    uses: Annotated[int, typer.Option(min=1, max=100_000, help="Clients that it enrols.")] = 1,
    hours: Annotated[
        float, typer.Option(min=1e-3, max=_LONGEST_HOURS, help="How long it is good.")
    ] = 24.0,
    name: Annotated[
        ClientName | None,
        typer.Option(
            metavar="CLIENT",
            parser=checked_name,
            show_default="the key server's choice",
            help="What the one client is called.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FILE",
            dir_okay=False,
            show_default="the screen",
            help="A new file for the token, for its owner's eyes only; not to the screen.",
        ),
    ] = None,
    access: AsKeyOperator,
    output: Output,
) -> None:
    """Make an enrolment token. Whoever has it gets the secret key: hand it over safely."""
    as_json = output.is_json()
    check_new(file)
    wanted = token_request(uses, hours, name)
    issued = asyncio.run(_token(access, KeyName(key), wanted, file))
    if as_json:
        print_json(issued.to_json())
    else:
        print_token(issued, KeyName(key))


@client_commands.command(epilog=EPILOG)
@with_option_groups
def ls(key: KeyArgument, *, access: AsKeyOperator, output: Output) -> None:
    """List the clients that were enrolled for a key, and the tokens for more of them."""
    as_json = output.is_json()
    clients, tokens = asyncio.run(_list(access, KeyName(key)))
    if as_json:
        print_json(json.dumps(clients.model_dump(mode="json") | tokens.model_dump(mode="json")))
    else:
        print_clients(clients, tokens, SystemClock().now())


@client_commands.command(epilog=EPILOG)
@with_option_groups
def revoke(
    key: KeyArgument,
    client: ClientArgument,
    *,
    run: RunNames,
    access: AsKeyOperator,
    run_access: AsRunOperatorIfNeeded,
    output: Output,
) -> None:
    """Revoke a client, which gives the key a new epoch, and exclude it from the named runs.

    It keeps what it has: models, and the secret keys of all epochs so far.
    """
    as_json = output.is_json()
    revoked = asyncio.run(_revoke(access, run_access, KeyName(key), ClientName(client), run))
    if as_json:
        print_json(json.dumps(asdict(revoked)))
    else:
        print_revocation(revoked)


async def _token(
    access: AsKeyOperator, key: KeyName, wanted: TokenRequest, file: Path | None
) -> IssuedToken:
    async with access.session() as operator:
        return await issue_token(operator, key, wanted, file)


async def _list(access: AsKeyOperator, key: KeyName) -> tuple[ClientList, TokenList]:
    async with access.session() as operator:
        clients = await operator.api.clients(key, operator.token)
        return clients, await operator.api.tokens(key, operator.token)


async def _revoke(
    access: AsKeyOperator,
    run_access: AsRunOperatorIfNeeded,
    key: KeyName,
    client: ClientName,
    runs: Sequence[RunName],
) -> Revoked:
    if not runs:
        async with access.session() as operator:
            return await revoke_at_key_server(operator, key, client)
    needed = run_access.needed_for("--run")
    async with access.session() as operator, needed.session() as run_operator:
        return await revoke_everywhere(operator, run_operator, key, client, runs)
