"""A round in one process for every combination of axes that the table allows: the product's own
parts and those that tests add."""

from collections.abc import Iterator

import pytest
from pydantic import ValidationError
from safetensors.numpy import load

from fedperm.axes import AXES, Axes, combinations, reasons_against
from fedperm.uploads.registry import UPLOAD_FORMS
from tests.client.federation import KEY
from tests.seams.known_average import INITIAL, check_models, known_homes, known_run, run_to_its_end
from tests.seams.registrations import everything_registered

Words = dict[str, str]

with everything_registered():
    ALLOWED = [words for words in combinations() if not list(reasons_against(words))]


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    with everything_registered():
        yield


def test_every_part_that_is_registered_runs_in_some_combination():
    for axis, registry in AXES.items():
        assert {words[axis] for words in ALLOWED} == set(registry.names)
    assert Axes().model_dump() in ALLOWED


@pytest.mark.anyio
@pytest.mark.parametrize("words", ALLOWED, ids=lambda words: "-".join(words.values()))
async def test_an_allowed_combination_runs_a_round(federation, words: Words):
    run = known_run(words, rounds=1)
    frozen = await federation.start(INITIAL, run)
    homes = await known_homes(federation, run)
    await run_to_its_end(federation, homes)
    check_models(homes, rounds=1)
    assert frozen.content.axes.model_dump() == words
    key = await federation.key_server.api.key(KEY)
    assert (key.scheme.name, key.keys) == (words["scheme"], words["keys"])
    tensors = {tensor.name for tensor in UPLOAD_FORMS[words["uploads"]].tensors(run.plan)}
    for home in homes:
        (upload,) = home.uploads(1)
        assert set(load(upload)) == tensors


def test_every_other_combination_is_refused_with_its_reasons():
    refused = [words for words in combinations() if words not in ALLOWED]
    assert refused
    for words in refused:
        with pytest.raises(ValidationError) as caught:
            Axes(**words)
        reasons = list(reasons_against(words))
        assert reasons
        assert all(reason in str(caught.value) for reason in reasons)
