"""Checking an upload where it lies, and reading it again for the sum."""

import hashlib
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest

from fedperm.errors import BodyError
from fedperm.schemes.scheme import ignore_progress
from fedperm.uploads.form import Member, UpdateTerms
from fedperm.wire.aggregator import UpdateState
from fedperm_aggregator.checking import CheckJob, Verdict, check_update
from fedperm_secret.schemes.paillier.keys import SecretKey
from tests.aggregator.parties import (
    Client,
    KeyServer,
    ManualClock,
    Prepared,
    bounded_by_hand,
    document_of,
)
from tests.core.federation import IN_THIS_PROCESS, decrypted_sum


@pytest.fixture
def server(small_key) -> KeyServer:
    return KeyServer(ManualClock(), {1: small_key})


def stored(folder: Path, server: KeyServer, **changes) -> tuple[Path, UpdateTerms, Prepared]:
    document = document_of(server, **changes)
    pair = server.pairs[1]
    prepared = Client("ada").prepare(document, 1, 1, pair, Random(3))
    path = folder / "ada"
    path.write_bytes(prepared.body)
    return path, document.content.terms(pair.public_key), prepared


def summed_alone(path: Path, terms: UpdateTerms, prepared: Prepared, pair: SecretKey):
    """What the round's sum is if this is its only member."""
    member = Member(path, hashlib.sha256(prepared.body).hexdigest())
    summed = terms.form.sum_up(
        [member], terms, IN_THIS_PROCESS, Random(4), lambda _phase: ignore_progress
    )
    return decrypted_sum(summed.total, terms.plan, pair)


def test_a_check_finds_the_norms_and_what_it_cost(tmp_path, server):
    path, terms, prepared = stored(tmp_path, server, norm_bound={"limit": 0.5})
    start = time.process_time()
    verdict = check_update(CheckJob(path, terms))
    assert 0 < verdict.cpu_seconds <= time.process_time() - start
    assert (verdict.state, verdict.reveals_key, verdict.bounded) == (UpdateState.VALID, False, True)
    assert 0 < verdict.norm_after <= 0.5 < verdict.norm_before
    content = document_of(server, norm_bound={"limit": 0.5}).content
    counted = summed_alone(path, terms, prepared, server.pairs[1])
    assert np.array_equal(counted, bounded_by_hand(prepared.coded, content))


def test_without_a_bound_values_are_taken_as_they_are(tmp_path, server):
    path, terms, prepared = stored(tmp_path, server, norm_bound=None)
    verdict = check_update(CheckJob(path, terms))
    assert verdict.state is UpdateState.VALID
    assert (verdict.norm_before, verdict.norm_after, verdict.bounded) == (None, None, None)
    assert np.array_equal(summed_alone(path, terms, prepared, server.pairs[1]), prepared.coded)


def test_a_file_that_changed_is_not_read(tmp_path, server):
    path, terms, prepared = stored(tmp_path, server)
    with pytest.raises(BodyError, match="has changed"):
        Member(path, hashlib.sha256(prepared.body + b"x").hexdigest()).read(terms.body)


def test_what_nobody_could_check_cost_nothing_and_reveals_nothing():
    verdict = Verdict(reason="could not be checked")
    assert verdict.state is UpdateState.REJECTED
    assert (verdict.cpu_seconds, verdict.reveals_key) == (0.0, False)
