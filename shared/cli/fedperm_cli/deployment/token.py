"""`fedperm deployment token`."""

import asyncio

from fedperm.wire.key_server import TokenStatus
from fedperm_cli.deployment.options import PoolOptions
from fedperm_cli.deployment.pool_token import renew_token
from fedperm_cli.measures import as_time
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json, show
from fedperm_cli.servers.options import AsKeyOperator


@with_option_groups
def token(*, options: PoolOptions, access: AsKeyOperator, output: Output) -> None:
    """Make a new enrolment token for clients to come, in the file that they read.

    It lasts an hour. Clients that have enrolled keep their identity and need none.
    """
    as_json = output.is_json()
    status = asyncio.run(_renew(options, access))
    if as_json:
        print_json(status.model_dump_json())
    else:
        until = as_time(status.expires_at)
        show(f"in {options.token_file}, for {status.uses} clients, good until {until}")


async def _renew(options: PoolOptions, access: AsKeyOperator) -> TokenStatus:
    async with access.session() as operator:
        return await renew_token(operator, options.key, options.token_file, options.token_uses)
