"""The published sum, decrypted and compared with what the included clients sent."""

import numpy as np

from fedperm.wire.aggregator import RoundState
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, bounded_by_hand, decrypted


async def check_sum(bench: Bench, number: int, epoch: int = 1) -> tuple[str, ...]:
    """The published sum is that of the clients it names; their names."""
    outcome = await bench.api.outcome(bench.run, number, OPERATOR)
    assert outcome.state is RoundState.PUBLISHED
    assert outcome.epoch == epoch
    document = bench.document.content
    body = await bench.api.aggregate(bench.run, number, OPERATOR)
    expected = sum(
        bounded_by_hand(bench.sent[number, client].coded, document) for client in outcome.included
    )
    assert np.array_equal(decrypted(body, document, bench.pair(epoch)), expected)
    assert outcome.aggregate is not None
    assert outcome.aggregate.contributors == len(outcome.included)
    return outcome.included
