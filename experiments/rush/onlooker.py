"""The operator and the monitoring, who ask for everything small all the time, in a process of
their own. Questions come on time, whether or not those before were answered."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from experiments.rush.scene import RUN, Scene
from experiments.rush.stopwatch import Seen, Stopwatch, drive
from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, Request, http_client
from fedperm.errors import PeerError

Question = Callable[[], Awaitable[object]]


def run_onlooker(scene: Scene, address: str) -> Seen:
    return drive(lambda stopwatch: _look(scene, address, stopwatch), scene.setting)


async def _look(scene: Scene, address: str, stopwatch: Stopwatch) -> None:
    """Until the run is over."""
    async with http_client(address) as http, asyncio.TaskGroup() as asked:
        onlooker = _Onlooker(Connection(http, Patience(0.0)), scene.operator)
        pause = scene.setting.look_seconds / len(onlooker.questions)
        while not onlooker.has_seen_the_end:
            for endpoint, question in onlooker.questions.items():
                await asyncio.sleep(pause)
                asked.create_task(_ask(stopwatch, endpoint, question))


async def _ask(stopwatch: Stopwatch, endpoint: str, question: Question) -> None:
    with suppress(PeerError):  # it is noted
        await stopwatch.time(endpoint, question)


class _Onlooker:
    def __init__(self, connection: Connection, operator: str) -> None:
        self._connection = connection
        self._api = AggregatorApi(connection)
        self._operator = operator
        self.has_seen_the_end = False
        self.questions: Mapping[str, Question] = {
            "/livez": lambda: self._get("/livez"),
            "/readyz": lambda: self._get("/readyz"),
            "/metrics": lambda: self._get("/metrics"),
            "runs": lambda: self._api.runs(operator),
            "run": self._look_at_run,
            "participants": lambda: self._api.participants(RUN, operator),
            "rounds": lambda: self._api.rounds(RUN, operator),
        }

    async def _get(self, path: str) -> None:
        await self._connection.send(Request("GET", path))

    async def _look_at_run(self) -> None:
        status = await self._api.run(RUN, self._operator)
        self.has_seen_the_end = status.state.is_over
