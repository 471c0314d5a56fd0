"""All operations of both servers under attack, one after the other, each in a world of its own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from schemathesis import Case

from tests.hostile.attack import ODD, Send, Target, at_the_edges, attack, let_in, targets
from tests.hostile.exchange import calling
from tests.hostile.laws import breaches
from tests.hostile.shot import Shot
from tests.hostile.tally import Tally
from tests.hostile.world import Scene, Servers, World

MOST_IN_A_WORLD = 400
"""Requests: a world where a run was stopped or a key is gone answers little else than that."""


Plant = Callable[[Servers], None]


def nothing(_servers: Servers) -> None:
    """The servers as they are."""


def campaign(world: World, requests: int, number: int, only: str = "") -> Tally:
    """All border cases, every odd header, then generated requests in equal parts: so many in all
    at least. The same number sends the same requests, but for keys and tokens."""
    tally = Tally()
    with world.copy() as servers:
        chosen = [target for target in targets(servers.apps) if only in str(target)]
    for target in chosen:
        with world.copy() as servers, _aimed(target, servers, world.scene, tally) as send:
            for count, case in enumerate(at_the_edges(target)):
                send(Shot(_placed(case, world.scene, count), let_in(target)[count % 2 - 1]))
            for pair in ODD:
                send(Shot(_right(target, world.scene), let_in(target)[0], dict([pair])))
    while tally.requests < requests:
        share = min(MOST_IN_A_WORLD, (requests - tally.requests) // len(chosen) + 1)
        for target in chosen:
            with world.copy() as servers, _aimed(target, servers, world.scene, tally) as send:
                attack(target, world.scene, share, number, send)
        number += 1
    return tally


def skirmish(
    world: World, requests: int, number: int, plant: Plant = nothing, only: str = ""
) -> Tally:
    """A few requests, all in one world; `plant` may spoil the servers first."""
    tally = Tally()
    with world.copy() as servers:
        plant(servers)
        chosen = [target for target in targets(servers.apps) if only in str(target)]
        for target in chosen:
            with _aimed(target, servers, world.scene, tally) as send:
                attack(target, world.scene, requests // len(chosen), number, send)
    return tally


@contextmanager
def _aimed(target: Target, servers: Servers, scene: Scene, tally: Tally) -> Iterator[Send]:
    with calling(servers.apps[target.server]) as caller:

        def send(shot: Shot) -> None:
            exchange = caller.send(shot, scene.credentials[shot.role])
            tally.add(target, exchange, list(breaches(exchange, scene, target.who)))

        yield send


def _placed(case: Case, scene: Scene, number: int) -> Case:
    """Every second border case goes to something that is there."""
    if number % 2:
        case.path_parameters.update({name: scene.names[name][0] for name in case.path_parameters})
    return case


def _right(target: Target, scene: Scene) -> Case:
    """A request that is right in every part."""
    case = _placed(next(at_the_edges(target)), scene, 1)
    for right in scene.right.get(target.endpoint, ())[:1]:
        case.path_parameters.update(right.parameters)
        case.headers.update(right.headers)
        case.body = right.body
    return case
