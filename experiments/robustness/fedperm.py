"""Rounds of FedPerm with some malicious clients among the first, for many cases side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

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
from experiments.robustness.training import ClippedSteps
from fedperm.norm_bound import NormForm
from fedperm.privacy.run_release import noise_of
from fedperm.run_document import NormSpec, RunDocument
from fedperm.windows import Geometry
from fedperm.wire.model import Parameters
from fedperm_client.preparation import Preparation
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
        played = [_Played(case, self._preparations()) for case in cases]
        lessons = lessons_of(self.deal, cases, self._steps)
        models = np.zeros((len(cases), self.document.model.parameters))
        for number in range(1, self.rounds + 1):
            moved = moved_by(lessons, models)
            for i, one in enumerate(played):
                if one.stopped_in is None:
                    models[i] += one.movement(self.document, moved[i], number)
        return [
            self.deal.scene.score(model, one.stopped_in)
            for model, one in zip(models, played, strict=True)
        ]

    def _steps(self, examples: Examples, _client: int) -> ClippedSteps:
        return ClippedSteps(examples, self.system.recipe)

    def _preparations(self) -> list[Preparation]:
        noise = noise_of(self.document)
        return [
            Preparation.of(self.document, noise, Random(f"robustness {self.deal.seed} {u}"))
            for u in range(CLIENTS)
        ]


class _Played:
    """One case as it unfolds."""

    def __init__(self, case: Case, preparations: list[Preparation]) -> None:
        self.stopped_in: int | None = None
        self._case = case
        self._preparations = preparations

    def movement(
        self, document: RunDocument, moved: NDArray[np.float64], number: int
    ) -> Parameters:
        """Of the model, given the clients' own; none once all clients have refused."""
        malicious = self._case.malicious
        uploads = [
            Upload(preparation.randomize(own))
            for preparation, own in zip(
                self._preparations[malicious:], moved[malicious:], strict=True
            )
        ]
        uploads += self._malicious(document, moved[:malicious])
        try:
            return step(document, uploads)
        except RefusedAverageError:
            self.stopped_in = number
            return np.zeros(moved.shape[1])

    def _malicious(self, document: RunDocument, moved: NDArray[np.float64]) -> list[Upload]:
        if not len(moved):
            return []
        shared: Parameters = moved.mean(axis=0)
        return [
            Attacker(document, preparation).upload(
                self._case.attack, Knowledge(own, shared, len(moved), CLIENTS)
            )
            for preparation, own in zip(self._preparations, moved, strict=False)
        ]
