"""When the faults are over: the run must go on to its end, and all must agree."""

from fedperm.wire.aggregator import RunState
from tests.simulation.judge import charges, leftovers
from tests.simulation.operators import Operators
from tests.simulation.world import World

ENOUGH = 3
SECONDS = 5.0
"""That pass while everybody does one thing: a deadline is over after a dozen times."""


async def finish(world: World, operators: Operators, rounds: int) -> None:
    world.heal()
    await operators.insist(operators.resume)
    await operators.insist(operators.carry)
    while len(world.present) < ENOUGH:
        await operators.enrol()
    for _ in range(30 + 25 * rounds):
        if all(member.is_finished for member in world.present):
            break
        await world.sweep()
        world.advance(SECONDS)
    await world.aggregator.tick()
    world.look()
    _check(world, rounds)


def _check(world: World, rounds: int) -> None:
    judge = world.judge
    status = world.aggregator.stores.runs.status("demo")
    late = [member.name for member in world.present if not member.is_finished]
    if status.state is not RunState.COMPLETED or late:
        judge.object("standstill", f"the run is {status}, not finished: {late}")
    if left := leftovers(world.aggregator):
        judge.object("leftover", f"uploads lie on the disk: {left}")
    judge.audit(world.key_server)
    for member in world.present:
        for number in range(1, rounds + 1):
            if len(charges(member, number)) > 1:
                judge.object("double charge", f"{member.name}, round {number}")
