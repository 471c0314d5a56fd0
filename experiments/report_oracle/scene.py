"""The demo's run, and the model that its clients have after an aggregate of somebody's own making.

Everything in it is public or the attacker's choice, but the clients' records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fedperm.aggregate import average_update
from fedperm.normalisation import CENTRE, normalise
from fedperm.privacy.release import promise_of
from fedperm.randomness import from_operating_system
from fedperm.run_document import FrozenDocument, KeySpec, OperatorKeys, RunDocument
from fedperm.wire.model import Parameters, decode_model
from fedperm_cli.demo.options import KEY, RUN, DemoOptions, run_options, task_name, task_options
from fedperm_cli.run.initial_model import starting_point
from fedperm_cli.run.planning import plan_run
from fedperm_cli.run.shards import smallest_shard
from fedperm_cli.run.specs import parse_task_options
from fedperm_client.tasks.loading import task_of_run
from fedperm_client.tasks.shards import context_of
from fedperm_client.training.learner import Learner

_NOBODY = "B" * 42 + "A"
"""Neither a key server nor an operator signs anything here."""
_UNUSED = from_operating_system()


@dataclass(frozen=True)
class Scene:
    """`start` is the model before the round."""

    document: RunDocument
    start: Parameters
    learners: tuple[Learner, ...]

    @property
    def positions(self) -> int:
        return self.document.shuffle.k1

    @property
    def contributors(self) -> int:
        return self.document.rounds.clients_per_round

    @cached_property
    def centre(self) -> int:
        """The sum that says "no update" in a slot."""
        return self.contributors * self.document.plan.fixed_point.top // 2

    @property
    def most(self) -> int:
        """The largest power of a single mask that leaves a centred slot possible, and the mean
        within the norm bound if it is used in every window."""
        plan, bound = self.document.plan, self.document.bound
        room = self.contributors * plan.fixed_point.top - self.centre
        if bound is None:
            return room
        step = plan.fixed_point.decode_mean(np.array([[1]]), self.contributors)
        nothing = plan.fixed_point.decode_mean(np.array([[0]]), self.contributors)
        unit = float((step - nothing)[0, 0]) * plan.geometry.windows**0.5
        return min(room, int(0.9 * bound.limit / unit))

    def model(self, places: Sequence[int], powers: Sequence[int]) -> Parameters:
        """After sums that say "no update", but for a column of these powers at these places of
        every window."""
        geometry = self.document.plan.geometry
        sums = np.full((geometry.windows, geometry.k1), self.centre, np.int64)
        for place, power in zip(places, powers, strict=True):
            sums[:, place] += power
        clip = self.document.noise.clip
        return self.start + average_update(sums, self.contributors, self.document.plan, clip)

    def tested(self, model: Parameters) -> tuple[float, float]:
        """Loss and accuracy, as a client reports them."""
        evaluation = self.learners[0].test(model)
        if evaluation is None or evaluation.accuracy is None:
            raise ValueError("the demo's task has test data and classes")
        return evaluation.loss, evaluation.accuracy

    def next_updates(self, model: Parameters) -> NDArray[np.float64]:
        """What all clients send next, before noise and shuffling: window by window, one client
        after the other. A full batch draws nothing at random."""
        clip, geometry = self.document.noise.clip, self.document.plan.geometry
        windows = [
            geometry.pad(normalise(learner.update(model, _UNUSED), clip), CENTRE)
            for learner in self.learners
        ]
        return np.concatenate(windows)


def demo_scene(options: DemoOptions) -> Scene:
    """With as many clients as the demo has, and its calibrated noise."""
    given = parse_task_options(task_options(options))
    smallest = smallest_shard(task_name(options), given, options.clients, options.data)
    wanted = run_options(options, smallest)
    start = starting_point(wanted)
    key = KeySpec(key=KEY, parameters={"key_bits": options.key_bits}, signing_key=_NOBODY)
    operator = OperatorKeys(signing_key=_NOBODY, sealing_key=_NOBODY)
    frozen: FrozenDocument = plan_run(RUN, wanted, start.spec, key, operator).document
    document = frozen.content
    learners = tuple(
        Learner(
            task_of_run(document.task.name, None, context_of(document, options.data, None, number)),
            document,
            promise_of(document),
        )
        for number in range(options.clients)
    )
    return Scene(document, decode_model(start.body, start.spec.parameters), learners)
