"""A lineage says what was applied, and nothing else: by hand, and as laws."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from fedperm.lineage import Lineage

DOCUMENT, FIRST, SECOND = ("d0" * 32, "a1" * 32, "a2" * 32)
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
steps = st.tuples(st.integers(1, 1000), st.integers(1, 50), digests)
histories = st.tuples(digests, st.lists(steps, max_size=5))


def lineage_of(history) -> Lineage:
    document, applied = history
    lineage = Lineage.of_document(document)
    for step in applied:
        lineage = lineage.after(*step)
    return lineage


def test_it_is_a_chain_of_hashes_over_what_was_published():
    """As docs/protocol.md writes it, in two steps by hand."""
    start = hashlib.sha256(b"fedperm lineage\x00" + DOCUMENT.encode()).hexdigest()
    assert Lineage.of_document(DOCUMENT) == Lineage(0, start)
    octets = b"fedperm lineage\x00" + start.encode() + b"\x003\x001\x00" + FIRST.encode()
    third = hashlib.sha256(octets).hexdigest()
    assert Lineage.of_document(DOCUMENT).after(3, 1, FIRST) == Lineage(3, third)


@given(histories, histories)
def test_two_have_the_same_only_if_the_same_was_applied(one, other):
    assert (lineage_of(one) == lineage_of(other)) == (one == other)


@given(histories, steps, steps)
def test_the_order_counts(history, one, other):
    here, there = (
        lineage_of(history).after(*first).after(*second)
        for first, second in ((one, other), (other, one))
    )
    assert (here.sha256 == there.sha256) == (one == other)


@given(histories, steps)
def test_no_number_runs_into_its_neighbour(history, step):
    """Round 1 under epoch 12 is not round 11 under epoch 2."""
    number, epoch, digest = step
    lineage = lineage_of(history)
    moved = lineage.after(number * 10 + epoch % 10, epoch // 10, digest)
    assert lineage.after(number, epoch, digest).sha256 != moved.sha256
