"""Rounds of FedPerm with some malicious clients among the first, for many cases side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.accuracy.document import document_of
from experiments.accuracy.setting import CLIENTS
from experiments.robustness.lessons import lessons_of, moved_by
from experiments.robustness.malice import Attacker, Knowledge
from experiments.robustness.reach import bound_of
from experiments.robustness.scene import Deal, Score
from experiments.robustness.server import RefusedAverageError, Upload, step
from experiments.robustness.setting import Case, Defence, System
from experiments.robustness.shared_noise import Noisemaker
from experiments.robustness.training import ClippedSteps
from fedperm.norm_bound import NormForm
from fedperm.run_document import NormSpec, RunDocument
from fedperm.windows import Geometry
from fedperm.wire.model import Parameters
from fedperm_client.tasks.task import Examples

_FORMS = {Defence.PAPER: NormForm.PAPER, Defence.CENTRED: NormForm.CENTRED}


def document_for(
    system: System, geometry: Geometry, laplace_scale: float, smallest: int, defence: Defence
) -> RunDocument:
    """Only a test may do without a bound."""
    document = document_of(system.recipe, geometry, laplace_scale, smallest)
    content = document.model_dump() | {"norm_bound": None, "insecure_for_tests": True}
    if defence in _FORMS:
        bound = bound_of(_FORMS[defence], geometry.padded_d, laplace_scale)
        content["norm_bound"] = NormSpec(limit=bound.limit, form=bound.form).model_dump()
    return RunDocument.model_validate(content)


@dataclass(frozen=True, eq=False)
class FedPerm:
    """The clients of one seed under one document. Every case has the same noise."""

    deal: Deal
    system: System
    document: RunDocument
    rounds: int

    def play(self, cases: Sequence[Case]) -> list[Score]:
        makers = [
            Noisemaker(self.document, f"robustness {self.deal.seed} {u}") for u in range(CLIENTS)
        ]
        lessons = lessons_of(self.deal, cases, self._steps)
        played = [_Played(case, self.document) for case in cases]
        models = np.zeros((len(cases), self.document.model.parameters))
        for number in range(1, self.rounds + 1):
            moved = moved_by(lessons, models)
            for maker in makers:
                maker.next_round()
            for i, one in enumerate(played):
                if one.stopped_in is None:
                    models[i] += one.movement(moved[i], makers, number)
        return [
            self.deal.scene.score(model, one.stopped_in)
            for model, one in zip(models, played, strict=True)
        ]

    def _steps(self, examples: Examples, _client: int) -> ClippedSteps:
        return ClippedSteps(examples, self.system.recipe)


class _Played:
    """One case as it unfolds."""

    def __init__(self, case: Case, document: RunDocument) -> None:
        self.stopped_in: int | None = None
        self._case = case
        self._document = document

    def movement(
        self, moved: NDArray[np.float64], makers: Sequence[Noisemaker], number: int
    ) -> Parameters:
        """Of the model, given the clients' own; none once all clients have refused."""
        first = self._case.malicious
        uploads = [
            Upload(maker.preparation().randomize(own))
            for maker, own in zip(makers[first:], moved[first:], strict=True)
        ]
        uploads += self._malicious(moved[:first], makers)
        try:
            return step(self._document, uploads)
        except RefusedAverageError:
            self.stopped_in = number
            return np.zeros(moved.shape[1])

    def _malicious(self, moved: NDArray[np.float64], makers: Sequence[Noisemaker]) -> list[Upload]:
        if not len(moved):
            return []
        shared: Parameters = moved.mean(axis=0)
        return [
            Attacker(self._document, maker.preparation()).upload(
                self._case.attack, Knowledge(own, shared, len(moved), CLIENTS)
            )
            for maker, own in zip(makers, moved, strict=False)
        ]
