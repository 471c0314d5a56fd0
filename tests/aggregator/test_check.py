"""Checking an upload where it lies, and reading it again for the sum."""

import hashlib
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest

from fedperm.errors import BodyError
from fedperm.wire.aggregator import UpdateState
from fedperm_aggregator.jobs.check import CheckJob, check_update
from fedperm_aggregator.jobs.fold import read_member
from fedperm_aggregator.records import UpdateTerms, Verdict
from tests.aggregator.parties import (
    Client,
    KeyServer,
    ManualClock,
    Prepared,
    bounded_by_hand,
    document_of,
)


@pytest.fixture
def server(small_key) -> KeyServer:
    return KeyServer(ManualClock(), {1: small_key})


def stored(folder: Path, server: KeyServer, **changes) -> tuple[Path, UpdateTerms, Prepared]:
    document = document_of(server, **changes)
    pair = server.pairs[1]
    prepared = Client("ada").prepare(document, 1, 1, pair, Random(3))
    path = folder / "ada"
    path.write_bytes(prepared.body)
    return (
        path,
        UpdateTerms(document.content.plan, document.content.bound, pair.public_key),
        prepared,
    )


def test_a_check_finds_the_norms_and_what_it_cost(tmp_path, server):
    path, terms, prepared = stored(tmp_path, server, norm_bound={"limit": 0.5})
    start = time.process_time()
    verdict = check_update(CheckJob(path, terms))
    assert 0 < verdict.cpu_seconds <= time.process_time() - start
    assert (verdict.state, verdict.reveals_key, verdict.bounded) == (UpdateState.VALID, False, True)
    assert 0 < verdict.norm_after <= 0.5 < verdict.norm_before
    content = document_of(server, norm_bound={"limit": 0.5}).content
    read = read_member(path, hashlib.sha256(prepared.body).hexdigest(), terms)
    assert np.array_equal(read.values, bounded_by_hand(prepared.shuffled, content))


def test_without_a_bound_values_are_taken_as_they_are(tmp_path, server):
    path, terms, prepared = stored(tmp_path, server, norm_bound=None)
    verdict = check_update(CheckJob(path, terms))
    assert verdict.state is UpdateState.VALID
    assert (verdict.norm_before, verdict.norm_after, verdict.bounded) == (None, None, None)
    read = read_member(path, hashlib.sha256(prepared.body).hexdigest(), terms)
    assert np.array_equal(read.values, prepared.shuffled)


def test_a_file_that_changed_is_not_read(tmp_path, server):
    path, terms, prepared = stored(tmp_path, server)
    with pytest.raises(BodyError, match="has changed"):
        read_member(path, hashlib.sha256(prepared.body + b"x").hexdigest(), terms)


def test_what_nobody_could_check_cost_nothing_and_reveals_nothing():
    verdict = Verdict(reason="could not be checked")
    assert verdict.state is UpdateState.REJECTED
    assert (verdict.cpu_seconds, verdict.reveals_key) == (0.0, False)
