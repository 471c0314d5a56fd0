"""`fedperm plan`: options in, a small measurement, what a run will cost out.

What counts privacy is imported when it is needed: scipy takes a second, which every other command
would pay as well.
"""

from typing import TYPE_CHECKING

from fedperm.randomness import from_operating_system
from fedperm_cli.bench.measurement import Clock, Instruments
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json, stderr
from fedperm_cli.plan.options import PlanOptions
from fedperm_cli.plan.speed import measure_speed
from fedperm_cli.progress import steps_on

if TYPE_CHECKING:
    from fedperm_cli.plan.answer import Answer


@with_option_groups
def plan(*, options: PlanOptions, output: Output) -> None:
    """Say what a run will cost before it is made: ciphertexts, bytes, memory, time and privacy.

    Times are those of this machine, measured for two seconds. Warns if the noise leaves nothing to
    learn. Beside the wanted k1 and k2 it weighs others: more positions and patterns cost time and
    bytes, and need less noise.
    """
    as_json = output.is_json()
    options.check()
    answer = _answer(options)
    if as_json:
        print_json(answer.to_json())
    else:
        from fedperm_cli.plan.pages import print_plan  # noqa: PLC0415 (see above)

        print_plan(answer)


def _answer(options: PlanOptions) -> "Answer":
    from fedperm_cli.plan.answer import Planner, check  # noqa: PLC0415 (see above)

    check(options)
    randomness = from_operating_system()
    with steps_on(stderr()) as steps:
        speed = measure_speed(options.scheme, Instruments(Clock(), randomness, steps))
        return Planner(options, speed).answer(steps)
