"""Whether a server is there, is the right one, and has about the same time."""

import fedperm
from fedperm.api.health import ServerFacts, facts_of
from fedperm.clock import Clock
from fedperm.errors import FedPermError
from fedperm.protocol import PROTOCOL
from fedperm.services import ServiceSpec
from fedperm.wire.statements import CLOCK_LEEWAY_SECONDS
from fedperm_cli.preflight.findings import Finding, failed, good, skipped
from fedperm_cli.servers.sessions import Server


async def look_at(known: ServiceSpec, server: Server | None, clock: Clock) -> list[Finding]:
    """That it answers; that it is what it should be; that clocks agree."""
    if server is None:
        return [skipped(known.title, "not asked", f"give --{known.name}")]
    try:
        async with server.connection() as connection:
            facts = await facts_of(connection)
    except FedPermError as error:
        return [failed(known.title, error.message, error.hint)]
    return [_identity(known, server, facts), _time(known, facts, clock)]


def _identity(known: ServiceSpec, server: Server, facts: ServerFacts) -> Finding:
    version = facts.version
    if version.service != known.name:
        return failed(
            known.title, f"{server.url} is a {version.service}", f"correct --{known.name}"
        )
    if version.protocol != PROTOCOL:
        return failed(
            known.title,
            f"{server.url} speaks {version.protocol}, this command {PROTOCOL}",
            f"install the same version everywhere: {version.version} there, "
            f"{fedperm.__version__} here",
        )
    return good(known.title, f"{server.url} is ready: version {version.version}, {PROTOCOL}")


def _time(known: ServiceSpec, facts: ServerFacts, clock: Clock) -> Finding:
    """A server tells whole seconds."""
    check = f"clock of the {known.title}"
    if facts.time is None:
        return skipped(check, "it tells no time", "compare the clocks by hand")
    apart = clock.now() - facts.time
    words = f"{max(0.0, abs(apart) - 1):.0f} s {'behind' if apart > 0 else 'ahead of'} this one"
    if abs(apart) <= 2:
        words = "the same as here"
    if abs(apart) > CLOCK_LEEWAY_SECONDS:
        hint = f"set both clocks (NTP): {CLOCK_LEEWAY_SECONDS:.0f} s are tolerated"
        return failed(check, words, hint)
    return good(check, words)
