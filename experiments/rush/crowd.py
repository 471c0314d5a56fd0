"""The clients: they join, beat, wait for a task, upload all at once, and read what was published.
Whatever a real client asks for in a round is asked for here."""

import asyncio
import ssl
from random import Random

import httpx

from experiments.rush.scene import RUN, Guest, Scene
from experiments.rush.stopwatch import Seen, Stopwatch, drive
from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, http_client
from fedperm.ids import NO_ROUND, RoundNumber
from fedperm.protocol import PROTOCOL
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import (
    SEALED_CHARACTERS,
    ClientReport,
    ClientSeconds,
    Heartbeat,
    Participation,
    Phase,
    TaskKind,
)

WAIT_SECONDS = 20.0
"""Of a long poll."""

_AT_ONCE = Patience(0.0)
"""Nothing is sent again behind our back."""
REPORT = ClientReport(
    seconds=ClientSeconds(train=0.0, randomize=0.0, encrypt=0.0, upload=0.0, decrypt=0.0),
    bytes_up=0,
    bytes_down=0,
    sealed="A" * SEALED_CHARACTERS,
)


def run_crowd(scene: Scene, address: str) -> Seen:
    return drive(lambda stopwatch: _all(scene, address, stopwatch), scene.setting)


async def _all(scene: Scene, address: str, stopwatch: Stopwatch) -> None:
    tls = ssl.create_default_context()  # one for all: it is never used, and slow to make
    doors = asyncio.Barrier(scene.setting.uploads)
    randomness = Random(1)  # noqa: S311 (when a heartbeat comes is no secret)
    async with asyncio.TaskGroup() as everybody:
        for number, guest in enumerate(scene.guests):
            transport = httpx.AsyncHTTPTransport(verify=tls)
            api = AggregatorApi(Connection(http_client(address, transport=transport), _AT_ONCE))
            visitor = _Visitor(guest, scene, api, stopwatch, doors)
            arrival = scene.setting.arrive_seconds * number / len(scene.guests)
            everybody.create_task(visitor.visit(arrival, randomness.random()))


class _Visitor:
    def __init__(
        self,
        guest: Guest,
        scene: Scene,
        api: AggregatorApi,
        stopwatch: Stopwatch,
        doors: asyncio.Barrier,
    ) -> None:
        self._guest = guest
        self._scene = scene
        self._api = api
        self._stopwatch = stopwatch
        self._doors = doors

    async def visit(self, arrival_seconds: float, phase: float) -> None:
        await asyncio.sleep(arrival_seconds)
        guest, message = (
            self._guest,
            Participation(document=self._scene.document_sha256, protocol=PROTOCOL),
        )
        await self._stopwatch.insist(
            "join", lambda: self._api.join(RUN, guest.name, message, guest.token)
        )
        beating = asyncio.create_task(self._beat(phase))
        try:
            await self._take_part()
        finally:
            beating.cancel()

    async def _beat(self, phase: float) -> None:
        guest, message = self._guest, Heartbeat(phase=Phase.IDLE, round=NO_ROUND)
        await asyncio.sleep(phase * self._scene.setting.beat_seconds)
        while True:
            await self._stopwatch.insist(
                "heartbeat", lambda: self._api.beat(RUN, guest.name, message, guest.token)
            )
            await asyncio.sleep(self._scene.setting.beat_seconds)

    async def _take_part(self) -> None:
        guest, settled = self._guest, NO_ROUND
        while True:
            task = await self._stopwatch.insist(
                "long poll",
                lambda: self._api.next_task(RUN, guest.name, settled, WAIT_SECONDS, guest.token),  # noqa: B023
            )
            if task.kind == TaskKind.FINISH:
                return
            if task.kind == TaskKind.TRAIN:
                await self._upload(task.round)
            if task.kind == TaskKind.SETTLE:
                settled = task.round
                self._stopwatch.hear(settled)
                await self._settle(settled)

    async def _upload(self, number: RoundNumber) -> None:
        guest, body = self._guest, self._scene.body
        manifest = guest.manifest(self._scene, number)
        await self._doors.wait()
        await self._stopwatch.insist(
            "upload",
            lambda: self._api.submit(UPDATE, RUN, number, guest.name, body, manifest, guest.token),
        )

    async def _settle(self, number: RoundNumber) -> None:
        api, guest, insist = self._api, self._guest, self._stopwatch.insist
        await insist("outcome", lambda: api.outcome(RUN, number, guest.token))
        await insist("aggregate", lambda: api.aggregate(RUN, number, guest.token))
        await insist("report", lambda: api.report(RUN, number, guest.name, REPORT, guest.token))
