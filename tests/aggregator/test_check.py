"""Checking an upload where it lies, and reading it again for the sum."""

import subprocess
import sys
import time
from collections.abc import Mapping
from random import Random

import numpy as np
import pytest

from fedperm.blobs.memory import MemoryBlobStore
from fedperm.blobs.store import BlobRef
from fedperm.errors import BlobError
from fedperm.schemes.scheme import ignore_progress
from fedperm.submissions import UPDATE, RoundContext
from fedperm.uploads.form import UpdateTerms
from fedperm.wire.aggregator import SubmissionState
from fedperm_aggregator.jobs.check import CheckJob, check_submission
from fedperm_aggregator.records import Verdict
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


@pytest.fixture
def blobs() -> MemoryBlobStore:
    return MemoryBlobStore("checks")


def stored(
    blobs: MemoryBlobStore, server: KeyServer, **changes
) -> tuple[BlobRef, UpdateTerms, Prepared]:
    document = document_of(server, **changes)
    pair = server.pairs[1]
    prepared = Client("ada").prepare(document, 1, 1, pair, Random(3))
    return blobs.write("ada", prepared.body), document.content.terms(pair.public_key), prepared


def job_of(
    upload: BlobRef,
    terms: UpdateTerms,
    prepared: Prepared,
    tensors: Mapping[str, str] | None = None,
) -> CheckJob:
    signed = terms.body.digests(prepared.body) if tensors is None else tensors
    return CheckJob(UPDATE, upload, terms.body, signed, RoundContext(terms, 1, "ada", None))


def summed_alone(upload: BlobRef, terms: UpdateTerms, pair: SecretKey):
    """What the round's sum is if this is its only member."""
    summed = terms.form.sum_up(
        [upload], terms, IN_THIS_PROCESS, Random(4), lambda _phase: ignore_progress
    )
    return decrypted_sum(summed.total, terms.plan, pair)


def test_a_check_finds_the_norms_and_what_it_cost(blobs, server):
    upload, terms, prepared = stored(blobs, server, norm_bound={"limit": 0.5})
    start = time.process_time()
    verdict = check_submission(job_of(upload, terms, prepared))
    assert 0 < verdict.cpu_seconds <= time.process_time() - start
    assert (verdict.state, verdict.reveals_key, verdict.bounded) == (
        SubmissionState.VALID,
        False,
        True,
    )
    assert 0 < verdict.norm_after <= 0.5 < verdict.norm_before
    content = document_of(server, norm_bound={"limit": 0.5}).content
    counted = summed_alone(upload, terms, server.pairs[1])
    assert np.array_equal(counted, bounded_by_hand(prepared.coded, content))


def test_without_a_bound_values_are_taken_as_they_are(blobs, server):
    upload, terms, prepared = stored(blobs, server, norm_bound=None)
    verdict = check_submission(job_of(upload, terms, prepared))
    assert verdict.state is SubmissionState.VALID
    assert (verdict.norm_before, verdict.norm_after, verdict.bounded) == (None, None, None)
    assert np.array_equal(summed_alone(upload, terms, server.pairs[1]), prepared.coded)


def test_a_tensor_that_the_manifest_does_not_name_is_held_against_its_sender(blobs, server):
    upload, terms, prepared = stored(blobs, server)
    for name in terms.body.digests(prepared.body):
        tensors = terms.body.digests(prepared.body) | {name: "0" * 64}
        verdict = check_submission(job_of(upload, terms, prepared, tensors))
        assert verdict.state is SubmissionState.REJECTED
        assert verdict.reason == "a tensor is not the one that its manifest names"


def test_an_upload_that_changed_is_not_read(blobs, server):
    upload, terms, prepared = stored(blobs, server)
    blobs.write("ada", prepared.body[:-1] + bytes([prepared.body[-1] ^ 1]))
    with pytest.raises(BlobError, match="has changed"):
        summed_alone(upload, terms, server.pairs[1])


def test_an_upload_that_is_missing_or_cut_short_is_not_held_against_its_sender(blobs, server):
    """It is raised, so that the job is tried again; only a wrong upload gets a verdict."""
    upload, terms, prepared = stored(blobs, server)
    blobs.write("ada", prepared.body[:-1])
    with pytest.raises(BlobError, match="has changed"):
        check_submission(job_of(upload, terms, prepared))
    blobs.remove("ada")
    with pytest.raises(BlobError, match="missing"):
        check_submission(job_of(upload, terms, prepared))


def test_what_nobody_could_check_cost_nothing_and_reveals_nothing():
    verdict = Verdict(SubmissionState.REJECTED, "could not be checked")
    assert (verdict.cpu_seconds, verdict.reveals_key) == (0.0, False)


WITHOUT = """
import sys
import fedperm_aggregator.jobs.check, fedperm_aggregator.jobs.pool
loaded = {"sqlalchemy", "fastapi", "starlette", "uvicorn"} & set(sys.modules)
assert not loaded, loaded
"""


def test_a_worker_process_loads_neither_the_web_nor_the_database():
    """It would take longer to start, and hold tens of megabytes for nothing."""
    subprocess.run([sys.executable, "-c", WITHOUT], check=True)
