"""The events of a run, over as many connections as it takes."""

import asyncio
from collections.abc import AsyncGenerator

from fedperm.errors import RefusedError, UnreachableError
from fedperm.ids import RunName
from fedperm.wire.events import Event
from fedperm_cli.servers.sessions import RunOperator

_PAUSE_SECONDS = 0.5
_ATTEMPTS = 60
"""So long may an aggregator be away, restarting, before it is given up."""


async def events_of(
    operator: RunOperator, run: RunName, after: int = 0
) -> AsyncGenerator[Event, None]:
    """From the one after `after` on and without end; none is missed or repeated."""
    last, failed = after, 0
    while True:
        try:
            async for event in operator.api.events(run, operator.token, last):
                last, failed = event.id, 0
                yield event
        except (UnreachableError, RefusedError) as error:
            failed += 1
            if failed > _ATTEMPTS or not _may_pass(error):
                raise
        await asyncio.sleep(_PAUSE_SECONDS)


def _may_pass(error: UnreachableError | RefusedError) -> bool:
    """A refusal that is the server's own trouble, such as a database that is away."""
    return isinstance(error, UnreachableError) or error.status >= 500
