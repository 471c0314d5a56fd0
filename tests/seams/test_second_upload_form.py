"""An upload form that only tests have carries whole federations: clients prepare it, the aggregator
checks it and makes its sum, and nothing else knows its tensors."""

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load

from fedperm.errors import UnreachableError
from fedperm.planner import Plan
from fedperm.schemes.scheme import Arrays, Encoder
from fedperm.uploads.registry import UPLOAD_FORMS
from fedperm.wire.aggregator import RoundState, SubmissionState
from tests.aggregator.parties import OPERATOR
from tests.client.cut_line import request_of
from tests.seams.known_average import (
    INITIAL,
    NAMES,
    check_models,
    known_homes,
    known_run,
    run_to_its_end,
)
from tests.uploads.halves import HIGH, Halves, halves_form

pytestmark = pytest.mark.anyio
AXES = {"uploads": Halves.name}


@pytest.fixture
def _registered() -> Iterator[None]:
    with halves_form():
        yield


@pytest.mark.usefixtures("_registered")
async def test_clients_learn_the_plain_average_though_a_receipt_is_lost(federation):
    """All clients are started again then."""
    run = known_run(AXES, rounds=3)
    await federation.start(INITIAL, run)
    homes = await known_homes(federation, run)
    homes[0].to_aggregator.after.append(request_of("PUT", "/rounds/2/updates/ada"))
    with pytest.raises(UnreachableError):
        await run_to_its_end(federation, homes)
    await run_to_its_end(federation, homes)
    check_models(homes, rounds=3)
    for number in (1, 2, 3):
        (upload,) = homes[0].uploads(number)  # one, so it was never prepared twice
        assert set(load(upload)) == {"low", "high", "hidden.masks"}


class OnceTooLarge(Halves):
    """The first upload that is prepared has values of more bits than the run's."""

    def __init__(self) -> None:
        self.prepared = 0

    def prepare(
        self, coded: NDArray[Any], plan: Plan, encoder: Encoder, randomness: Random
    ) -> Arrays:
        arrays = super().prepare(coded, plan, encoder, randomness)
        self.prepared += 1
        if self.prepared == 1:
            return {**arrays, HIGH: np.full_like(arrays[HIGH], 0xFFFF)}
        return arrays


async def test_what_the_form_refuses_is_left_out_of_the_sum(federation):
    with UPLOAD_FORMS.registered(Halves.name, OnceTooLarge()):
        run = known_run(AXES, rounds=1)
        await federation.start(INITIAL, run)
        homes = await known_homes(federation, run)
        await run_to_its_end(federation, homes)
        (report,) = (await federation.aggregator.api.rounds(run.run, OPERATOR)).rounds
    assert report.outcome.state is RoundState.PUBLISHED
    (refused,) = [update for update in report.updates if update.state is SubmissionState.REJECTED]
    assert refused.reason == "a value is too large"
    assert set(report.outcome.included) == set(NAMES) - {refused.client}
    assert len({home.summary.parameters_sha256 for home in homes}) == 1
