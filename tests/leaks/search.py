"""Where a run's secrets are searched for, and which of them must not be there."""

from collections.abc import Iterator
from pathlib import Path

from tests.leaks import needles
from tests.leaks import secrets_of_a_run as secrets
from tests.leaks.needles import Needle
from tests.leaks.scanner import Scan, Scanner, together
from tests.leaks.whole_run import EPOCHS, StandingRun
from tests.proc import family_of


class Search:
    """The needles are made once, while everything stands."""

    def __init__(self, run: StandingRun) -> None:
        self._run = run
        self._folder = run.world.folder
        self._clients = ["known", *(process.name for process in run.clients)]
        self._keys = [*secrets.paillier(run.world, EPOCHS), *secrets.key_encryption(run.world)]
        self._patterns = list(secrets.patterns(run.known))
        self._foreign = [*self._keys, *self._patterns, *self._clients_own()]
        self._foreign += secrets.key_operator(run.world)

    def _clients_own(self) -> Iterator[Needle]:
        """What belongs to clients, and to the key server at most."""
        run = self._run
        for client in self._clients:
            yield from secrets.identity(self._folder.state(client))
        yield from secrets.enrolment(run.tokens)
        yield from secrets.access(run.known.tokens_for_the_key_server, "key server")
        yield from needles.vector("model", run.checkpoint.parameters.tolist())

    def of_the_aggregator(self) -> list[Scan]:
        """Nothing of the clients' and the key server's. Tokens that it is shown are its to see."""
        scanner, state = Scanner(self._foreign), self._folder.state("aggregator")
        return [scanner.folder(state), scanner.database(state / "aggregator.db")]

    def of_the_aggregators_memory(self) -> Scan:
        """The same, in all of its processes."""
        pids = family_of(self._run.world.aggregator.pid)
        scans = map(Scanner(self._foreign).process, pids)
        return together(f"memory of the aggregator ({len(pids)} processes)", scans)

    def of_the_key_server(self) -> list[Scan]:
        """On disk no secret is in the clear; its memory holds them, of course."""
        scanner, state = Scanner(self._foreign), self._folder.state("keyserver")
        return [scanner.folder(state), scanner.database(state / "keyserver.db")]

    def of_clients(self) -> list[Scan]:
        """No Paillier key and no pattern is written; identity keys and the model are."""
        scanner = Scanner([*self._keys, *self._patterns])
        return [scanner.folder(self._folder.state(client)) for client in self._clients]

    def of_logs(self) -> list[Scan]:
        """No secret of anybody, tokens included."""
        run = self._run
        shown = secrets.access(run.known.tokens_for_the_aggregator, "aggregator")
        everybodys = [*secrets.run_operator(run.world), *shown, secrets.any_token(run.known)]
        scanner = Scanner([*self._foreign, *everybodys])
        return [scanner.file(log) for log in sorted(self._folder.logs.glob("*.log"))]

    def of_a_clients_memory(self) -> Scan:
        """Where the keys must be, or the search would be blind."""
        return Scanner(self._foreign).process(self._run.clients[0].pid)

    def log(self, name: str) -> Path:
        return self._folder.logs / f"{name}.log"
