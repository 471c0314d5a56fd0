"""The task's model with this client's data: vectors in, vectors out, torch inside."""

from random import Random

from fedperm.errors import PreconditionError
from fedperm.privacy.record_level import LocalTraining
from fedperm.run_document import RunDocument
from fedperm.wire.model import Parameters
from fedperm_client.tasks.task import Task
from fedperm_client.training.evaluation import Evaluation, evaluate
from fedperm_client.training.parameters import load
from fedperm_client.training.per_example import ClippedStep
from fedperm_client.training.sgd import LocalSgd
from fedperm_client.training.single_records import try_single_records
from fedperm_client.training.task_check import check_is_the_runs, checked_model
from fedperm_client.training.trial import try_out


class Learner:
    """Made once a run; what cannot be trained is refused when it is made."""

    def __init__(self, task: Task, document: RunDocument, promise: LocalTraining) -> None:
        """`promise` is the training whose record-level guarantee was checked."""
        self._task = task
        self._spec = document.training
        self._promise = promise
        self._module = checked_model(task)
        check_is_the_runs(self._module, document.model)
        tried = try_out(task, self._module)
        self._own, self._public = tried.own, tried.public
        if promise.clip_norm is not None:
            self._check_promise()

    @property
    def records(self) -> int:
        return len(self._own)

    def update(self, parameters: Parameters, randomness: Random) -> Parameters:
        """Local training from these parameters on: how far they move."""
        load(self._module, parameters)
        if self._promise.clip_norm is None:
            return self._sgd().update(self._module, self._own, randomness)
        self._module.eval()
        step = ClippedStep(self._promise, self._task.loss)
        return step.update(self._module, self._own.inputs, self._own.targets)

    def test(self, parameters: Parameters) -> Evaluation | None:
        """On the task's public data, if it has any."""
        if self._public is None:
            return None
        load(self._module, parameters)
        return evaluate(self._module, self._public, self._task.loss)

    def training_loss(self, parameters: Parameters) -> float:
        """On this client's records: an unnoised number that no guarantee covers."""
        load(self._module, parameters)
        return evaluate(self._module, self._own, self._task.loss).loss

    def _sgd(self) -> LocalSgd:
        spec = self._spec
        return LocalSgd(spec.learning_rate, spec.local_epochs, spec.batch_size, self._task.loss)

    def _check_promise(self) -> None:
        try_single_records(self._module, self._own, self._task.loss)
        if self.records < self._promise.records:
            raise PreconditionError(
                f"this client has {self.records:,} records; the run's record-level guarantee is "
                f"for at least {self._promise.records:,}",
                "stay out of this run, or ask for one whose noise covers the smallest client",
            )
