"""Sends, and reads the kernel's counts."""

import asyncio
import multiprocessing
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

from experiments.cheapest_request.report import CheapestRequest, Cost, Flood, Unread
from experiments.cheapest_request.scene import Stage, servers, set_stage
from experiments.cheapest_request.sender import (
    Sent,
    flood,
    median_livez_seconds,
    seconds_until_admitted,
    send_all,
    take_without_reading,
)
from experiments.cheapest_request.shots import ENROLLED, OUTSIDER, Shot, request
from experiments.paper.records import Origin
from fedperm.clock import Clock

AS_THEY_ARE, LIFTED = "as by default", "lifted"
_WARM_UP = 20
_PLACES = 30
_UNREAD_SECONDS = 3.0


@dataclass(frozen=True)
class Size:
    """How often, on how many connections, and how long."""

    requests: int = 300
    connections: int = 4
    flood_seconds: float = 4.0
    tries: int = 3
    key_bits: int = 2048


def measure(
    folder: Path, size: Size, origin: Origin, clock: Clock, randomness: Random
) -> CheapestRequest:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as sender:
        with servers(folder / "lifted", unlimited=True) as launcher:
            stage = asyncio.run(set_stage(launcher, size.key_bits, clock, randomness))
            costs = tuple(_cost(stage, shot, size, sender) for shot in stage.shots)
            worst = _worst(stage, costs, OUTSIDER)
            floods = [_flood(stage, worst, size, sender, LIFTED)]
        with servers(folder / "limited", unlimited=False) as launcher:
            stage = asyncio.run(set_stage(launcher, size.key_bits, clock, randomness))
            for who in (OUTSIDER, ENROLLED):
                worst = _worst(stage, costs, who)
                floods.append(_flood(stage, worst, size, sender, AS_THEY_ARE))
    unread = _unread(folder / "unread")
    return CheapestRequest(
        origin=origin, key_bits=size.key_bits, costs=costs, floods=tuple(floods), unread=unread
    )


def _worst(stage: Stage, costs: tuple[Cost, ...], sender: str) -> Shot:
    dearest = max((c for c in costs if c.sender == sender), key=lambda c: c.server_ms).name
    return next(s for s in stage.shots if s.sender == sender and s.name == dearest)


def _cost(stage: Stage, shot: Shot, size: Size, sender: ProcessPoolExecutor) -> Cost:
    """The octets are made here: only their sending counts."""
    address, pid = stage.address(shot.server), stage.servers[shot.server].pid
    octets = [shot.request(number) for number in range(_WARM_UP + size.requests)]
    sender.submit(send_all, address, octets[:_WARM_UP]).result()
    before = _cpu_seconds(pid)
    sent = sender.submit(send_all, address, octets[_WARM_UP:]).result()
    used = _cpu_seconds(pid) - before
    return Cost(
        name=shot.name,
        server=shot.server,
        sender=shot.sender,
        octets=len(octets[0]),
        requests=sent.count,
        statuses=_named(sent.statuses),
        server_ms=_ms(used / sent.count),
        sender_ms=_ms(sent.cpu_seconds / sent.count),
    )


def _flood(stage: Stage, shot: Shot, size: Size, sender: ProcessPoolExecutor, limits: str) -> Flood:
    address = stage.address(shot.server)
    octets = [shot.request(number) for number in range(1 if shot.sender == OUTSIDER else 50)]
    calm = median_livez_seconds(address, time.time() + 1.0)
    medians, sent = [], list[Sent]()
    for _ in range(size.tries):
        until = time.time() + size.flood_seconds
        flooding = sender.submit(flood, address, octets, size.connections, until)
        medians.append(_ms(median_livez_seconds(address, until)))
        sent.append(flooding.result())
    statuses = sum((Counter(one.statuses) for one in sent), Counter[int]())
    return Flood(
        name=shot.name,
        server=shot.server,
        sender=shot.sender,
        connections=size.connections,
        limits=limits,
        seconds=round(sum(one.seconds for one in sent), 1),
        statuses=_named(dict(statuses)),
        calm_ms=_ms(calm),
        livez_ms=tuple(medians),
    )


def _unread(folder: Path) -> Unread:
    settings = {"most_connections": _PLACES, "unread_seconds": _UNREAD_SECONDS}
    with servers(folder, unlimited=False, **settings) as launcher:
        stage = Stage({s.name: server for s, server in launcher.servers.items()}, ())
        address = stage.address("aggregator")
        long = request("GET", "/openapi.json")
        held = take_without_reading(address, _PLACES, long)
        try:
            start = time.perf_counter()
            refused = seconds_until_admitted(address, 0.2) >= 0.2
            seconds_until_admitted(address, 20 * _UNREAD_SECONDS)
            after = time.perf_counter() - start
        finally:
            for connection in held:
                connection.close()
        served = _served_meanwhile(address, long)
    return Unread(
        places=_PLACES,
        unread_seconds=_UNREAD_SECONDS,
        refused_newcomers=refused,
        admitted_after_seconds=round(after, 2),
        held_livez_ms=served,
    )


def _served_meanwhile(address: tuple[str, int], long: bytes) -> float:
    """While all other places are taken by those who read nothing, and have been sent all that
    there was room for."""
    held = take_without_reading(address, _PLACES - 2, long)
    time.sleep(_UNREAD_SECONDS / 2)
    try:
        return _ms(median_livez_seconds(address, time.time() + 1.0))
    finally:
        for connection in held:
            connection.close()


def _cpu_seconds(pid: int) -> float:
    """Of all threads, also of those that have ended, to the nanosecond: Linux has a clock for every
    process (clock_getcpuclockid(3))."""
    return time.clock_gettime((~pid << 3) | 2)


def _named(statuses: dict[int, int]) -> dict[str, int]:
    return {str(status): count for status, count in sorted(statuses.items())}


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 3)
