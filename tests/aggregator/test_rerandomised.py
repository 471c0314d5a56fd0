"""What is published shows the sum and not how it was made: fresh blinding on every ciphertext."""

import numpy as np
import pytest
from gmpy2 import mpz

from fedperm.aggregate import decode_aggregate
from fedperm.schemes.paillier.public_key import read_ciphertexts
from fedperm_secret.schemes.paillier.decryption import Decryptor
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client
from tests.core.federation import half_of, numbers
from tests.wire.small_messages import update_body

pytestmark = pytest.mark.anyio

UNBOUNDED = np.array([[120, 127, 130, 140]] * 3, np.uint8)
"""Within the norm bound: the fold takes the values as they are."""


def folded_by_hand(bench: Bench, bodies: list[bytes]) -> list[mpz]:
    """As docs/protocol.md states it, window by window and group by group: masks to the power of the
    values, multiplied over clients and columns. Nothing fresh is in it."""
    plan, key = bench.document.content.plan, bench.pair().public_key
    shape = (plan.geometry.patterns, plan.layout.packing.groups, plan.geometry.k1)
    products = np.full((plan.geometry.windows, plan.layout.packing.groups), mpz(1), object)
    for body in bodies:
        update = update_body(plan).decode(body)
        masks = np.array([*read_ciphertexts(update["masks"])], object).reshape(shape)
        for (window, column), value in np.ndenumerate(update["values"]):
            for group in range(plan.layout.packing.groups):
                mask = masks[window % plan.geometry.k2, group, column]
                powers = pow(mask, int(value), key.n_squared)
                products[window, group] = products[window, group] * powers % key.n_squared
    return list(products.flat)


async def test_every_published_ciphertext_is_a_fresh_one_of_the_same_sum(
    opened: Bench, clients: list[Client]
):
    for client in clients:
        await opened.upload(client, 1, opened.prepare(client, 1, coded=UNBOUNDED))
    await opened.aggregator.tick()
    body = await opened.api.aggregate(opened.run, 1, OPERATOR)
    pair, plan = opened.pair(), opened.document.content.plan
    key = pair.public_key
    total = decode_aggregate(body, plan, half_of(plan, key))
    published = [ciphertext for row in numbers(total.arrays) for ciphertext in row]
    folded = folded_by_hand(opened, [opened.sent[1, client.name].body for client in clients])
    decryptor = Decryptor(pair)
    assert [decryptor.decrypt(c) for c in published] == [decryptor.decrypt(c) for c in folded]
    fresh = {
        new * pow(old, -1, key.n_squared) % key.n_squared
        for new, old in zip(published, folded, strict=True)
    }
    assert mpz(1) not in fresh  # none is as it was
    assert len(fresh) == len(published)  # and each has a factor of its own
