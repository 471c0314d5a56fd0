"""The operator's page as a server on this machine."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from fedperm.clock import SystemClock
from fedperm.dashboard.dashboard import Dashboard
from fedperm.dashboard.entrance import LoginLinks, by_link
from fedperm.dashboard.site import build_site
from fedperm.durable_file import write_durably
from fedperm.logs import configure_logs
from fedperm.randomness import from_operating_system
from fedperm.run_notifier import RunNotifier
from fedperm.web.serving import Serving, serve
from fedperm_cli.dashboard.opening import opening_with
from fedperm_cli.dashboard.options import PageOptions
from fedperm_cli.dashboard.remote_runs import RemoteRuns
from fedperm_cli.errors import DirectoryError
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.servers.options import AsRunOperator

SESSION_SECONDS = 8 * 3600.0
DRAIN_SECONDS = 2
"""Nothing is lost with an answer that was cut off."""


class Page:
    """`tell` hears every login link as it becomes the one that opens, without its secret if that is
    in a file."""

    def __init__(
        self,
        access: AsRunOperator,
        identity: OperatorIdentity | None,
        options: PageOptions,
        tell: Callable[[str], None],
    ) -> None:
        self._access = access
        self._identity = identity
        self._options = options
        self._tell = tell
        self._notifier = RunNotifier()
        self._randomness = from_operating_system()

    def serve(self) -> None:
        """Until SIGTERM or SIGINT."""
        configure_logs("ERROR")  # an aggregator that is away is told on the page
        serving = Serving(self._options.host, self._options.port, drain_seconds=DRAIN_SECONDS)
        try:
            serve(build_site(self._board), serving, self._notifier.close, self._listening)
        finally:
            if self._options.link_file is not None:
                self._options.link_file.unlink(missing_ok=True)

    def _listening(self, address: str) -> None:
        """Wherever it listens, browsers of this machine find it at a port of their own."""
        here = self._options.address or f"http://127.0.0.1:{urlsplit(address).port}"
        login = f"{here.rstrip('/')}/dashboard/login"
        self._links = LoginLinks(
            self._randomness, lambda secret: self._tell_link(f"{login}#{secret}")
        )

    @asynccontextmanager
    async def _board(self) -> AsyncIterator[Dashboard]:
        """Once it listens."""
        async with (
            self._access.session() as operator,
            RemoteRuns(operator, self._notifier) as source,
        ):
            yield Dashboard.of(
                source,
                opening_with(self._identity),
                by_link(self._links),
                self._notifier,
                SystemClock(),
                self._randomness,
                SESSION_SECONDS,
            )

    def _tell_link(self, link: str) -> None:
        """Into the file and nowhere else, if there is one: what is printed may be kept in a log."""
        file = self._options.link_file
        if file is None:
            self._tell(link)
            return
        try:
            write_durably(file, f"{link}\n".encode())
        except OSError as error:
            raise DirectoryError(
                f"the link cannot be written to {file}: {error.strerror}",
                "choose another place with --link-file",
            ) from None
        self._tell(link.partition("#")[0])
