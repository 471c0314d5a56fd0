"""The decrypted sum is the integer sum of what the included clients sent, after norm bounding.

Whatever happens in between: some clients are not asked, one vanishes, one comes late, the key is
rotated, all are too loud. The judge reads the wire (wire_oracle) and uses nothing of ours to
decrypt, unshuffle or bound.
"""

from contextlib import ExitStack
from functools import partial

import numpy as np
import phe
import pytest

from fedperm.run_document import FrozenDocument
from fedperm.wire.aggregator import RoundReport, RoundState
from fedperm_keyserver.stores.keys import KeyStore
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.storage import secret_key_to_phe
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.client.documents import document
from tests.client.federation import KEY, Federation, Home, drive, settled
from tests.federation.wire_oracle import expected_sum, published_sum
from tests.keys.sealing import taken_out

pytestmark = pytest.mark.anyio

ROUNDS = {
    "count": 5,
    "clients_per_round": 3,
    "min_contributors": 2,
    "start_with": 3,
    "deadline_seconds": 20.0,
    "extension_seconds": 10.0,
}
SHUFFLE = {"k1": 150, "k2": 2}
"""650 parameters: padded, several windows a pattern, several groups at 512 bits."""


async def rounds_of(federation: Federation, frozen: FrozenDocument) -> list[RoundReport]:
    listed = await federation.aggregator.api.rounds(frozen.content.run, RUN_OPERATOR)
    return list(listed.rounds)


def secret_key(federation: Federation, epoch: int) -> phe.PaillierPrivateKey:
    """From the key server's own vault: the judge is no party."""
    server = federation.key_server
    stored = KeyStore(server.database).epoch(KEY, epoch)
    return secret_key_to_phe(taken_out(server.authority.vault, stored), SECRET_KEY_ACCESS)


def the_upload(home: Home, number: int) -> bytes:
    """The one body that ever left the client for the round."""
    (upload,) = home.uploads(number)
    return upload


async def check_sums(federation: Federation, frozen: FrozenDocument, homes: list[Home]) -> int:
    """Compares every published round with the judge's own sum; how many there were."""
    by_name = {home.name: home for home in homes}
    published = 0
    for report in await rounds_of(federation, frozen):
        outcome = report.outcome
        if outcome.state is RoundState.PUBLISHED:
            published += 1
            key = secret_key(federation, outcome.epoch)
            uploads = [the_upload(by_name[name], outcome.round) for name in outcome.included]
            body = await federation.aggregator.api.aggregate(
                frozen.content.run, outcome.round, RUN_OPERATOR
            )
            expected = expected_sum(uploads, frozen.content, key)
            assert np.array_equal(published_sum(body, frozen.content, key), expected)
    return published


async def test_every_round_is_exact_with_sampling_a_drop_out_a_late_joiner_and_a_rotation(
    federation, clock
):
    frozen = await federation.start(wanted=document(rounds=ROUNDS, shuffle=SHUFFLE))
    homes = await federation.homes("ada", "ben", "cleo", "dora", "emil")
    ada, ben, cleo, dora, emil = homes
    with ExitStack() as living:
        one, two, three, four = (
            living.enter_context(home.client()) for home in (ada, ben, cleo, dora)
        )
        await drive(federation, one, two, three, four, rounds=2)
        await federation.rest()
        await drive(federation, one, two, four, rounds=3, meanwhile=partial(clock.advance, 1.0))
        await federation.rotate_and_go_on(2)
        five = living.enter_context(emil.client())
        await drive(federation, one, two, four, five, meanwhile=partial(clock.advance, 1.0))
        assert settled(three) == 2
    reports = await rounds_of(federation, frozen)
    assert all(len(report.outcome.selected) == 3 for report in reports)
    assert {report.outcome.epoch for report in reports} == {1, 2}
    assert len({report.outcome.selected for report in reports}) > 1
    assert await check_sums(federation, frozen, homes) == ROUNDS["count"]
    assert len({home.summary.parameters_sha256 for home in (ada, ben, dora, emil)}) == 1


@pytest.mark.parametrize("form", ["centred", "paper"])
async def test_bounded_updates_are_summed_as_the_protocol_rounds_them(federation, form):
    limit = {"centred": 12.0, "paper": 15.0}[form]
    wanted = document(
        rounds={**ROUNDS, "count": 1},
        shuffle=SHUFFLE,
        norm_bound={"limit": limit, "form": form},
    )
    frozen = await federation.start(wanted=wanted)
    homes = await federation.homes("ada", "ben", "cleo")
    with ExitStack() as living:
        await drive(federation, *(living.enter_context(home.client()) for home in homes))
    assert await check_sums(federation, frozen, homes) == 1
    (report,) = await rounds_of(federation, frozen)
    for update in report.updates:
        assert update.bounded
        assert update.norm_before > limit >= update.norm_after
