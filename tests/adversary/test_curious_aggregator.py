"""It does its work as it should, and looks at everything that it is shown."""

from random import Random

import numpy as np
import pytest
from gmpy2 import mpz
from numpy.typing import NDArray

from fedperm.errors import AggregateError
from fedperm.schemes.paillier.blinding import BlindingPool
from fedperm.schemes.paillier.masks import MaskEncoder
from fedperm.schemes.paillier.public_key import PublicKey
from fedperm.services import AGGREGATOR
from fedperm_client.aggregate_checks import averaged
from fedperm_client.epoch_keys import EpochKey
from fedperm_client.reports import IN_CLEAR
from tests.adversary.ciphertexts import masks_in, tells_apart
from tests.adversary.conftest import Enrol
from tests.adversary.oracle import PERMUTATIONS, POSITIONS, Scene, picked, scene_of
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client, bounded_by_hand
from tests.architecture.test_imports import closure
from tests.client.cut_line import request_of
from tests.client.documents import rounds
from tests.client.federation import Federation, drive
from tests.client.test_aggregate_checks import CONTENT, forged, outcome
from tests.client.test_distrust import AGGREGATE
from tests.client.test_preparation import NO_NOISE, prepared
from tests.core.federation import checked
from tests.documents.operator import read_by_operator
from tests.keyserver.server import RUN_OPERATOR, Server
from tests.keyserver.test_endpoint_walk import NONCE, OPEN, TABLE

pytestmark = pytest.mark.anyio
MOVEMENT = np.linspace(-0.1, 0.1, 650)


@pytest.fixture
def key(small_key, randomness) -> EpochKey:
    return EpochKey(1, small_key, NO_NOISE, randomness)


class OneFactor:
    """Blinds everything alike: what the attack is shown to find."""

    def __init__(self, key: PublicKey) -> None:
        self.public_key = key
        self._factor = key.blinding_factor(key.draw_unit(Random(1)))

    def draw(self, _randomness: Random) -> mpz:
        return self._factor


def test_blocked_telling_masks_apart(key, small_key):
    """Within one upload; a client that blinds carelessly would be read."""
    public = small_key.public_key
    masks = masks_in(prepared(NO_NOISE, MOVEMENT, key), NO_NOISE.plan, public)
    assert not tells_apart(masks[:60], NO_NOISE.plan, public)
    pool = BlindingPool(OneFactor(public), Random(2))
    key.encoder = MaskEncoder(NO_NOISE.plan.layout, pool)
    careless = masks_in(prepared(NO_NOISE, MOVEMENT, key), NO_NOISE.plan, public)
    assert tells_apart(careless[:60], NO_NOISE.plan, public)


def test_blocked_linking_a_clients_rounds(key, small_key):
    """The same update twice: its values lie elsewhere, and no mask can be matched with another."""
    bodies = [prepared(NO_NOISE, MOVEMENT, key, seed) for seed in (1, 2)]
    public = small_key.public_key
    first, second = (checked(body, NO_NOISE.plan, public)["values"] for body in bodies)
    assert np.abs(np.sort(first).astype(int) - np.sort(second)).max() <= 3  # rounded at random
    assert (first == second).mean() < 0.05  # 1 in 130 by chance
    masks = [m for b in bodies for m in masks_in(b, NO_NOISE.plan, public)[:40]]
    assert not tells_apart(masks, NO_NOISE.plan, public)


def test_blocked_reading_an_update_in_its_order(key, small_key):
    """A movement that rises everywhere: the order in which it arrives says nothing of it."""
    body = prepared(NO_NOISE, MOVEMENT, key)
    values = checked(body, NO_NOISE.plan, small_key.public_key)["values"].astype(float)
    places = np.arange(values.shape[1])
    correlations = [np.corrcoef(places, window)[0, 1] for window in values]
    assert max(map(abs, correlations)) < 0.4  # 1 if it were not shuffled; 0.09 by chance


async def test_blocked_asking_the_key_server_for_keys(key_server: Server, enrolled: Enrol):
    """With all that it is ever shown: the run operator's secret and clients' tokens for it."""
    member = await enrolled()
    shown = [RUN_OPERATOR, await member.access(AGGREGATOR)]
    places = {"key": "demo", "epoch": "1", "identifier": "a", "client": member.name, "nonce": NONCE}
    for (method, path), cells in TABLE.items():
        if cells is not OPEN:
            for secret in shown:
                answer = await key_server.send(method, path.format(**places), token=secret)
                assert answer.status_code in {401, 403, 415}
                assert "sealed" not in answer.text


def test_blocked_running_code_that_holds_secret_keys():
    assert "fedperm-secret" not in closure("fedperm-aggregator")


def test_blocked_reading_decrypted_numbers_from_errors(key):
    """Whatever it has clients decrypt, they say the same words."""
    told = set()
    for plaintext in (2047, 2047 << 11, (2047 << 22) + 4711):
        body = forged(key, plaintext)
        with pytest.raises(AggregateError) as refusal:
            averaged(body, outcome(body), CONTENT, key, min_contributors=2)
        told.add(str(refusal.value))
    assert len(told) == 1


async def test_blocked_reading_training_losses(federation: Federation):
    """The run asks for them: the operator has those that owners allow, the aggregator none."""
    frozen = await federation.start_lines(rounds=rounds(count=1), local_metrics=True)
    ada, ben = await federation.line_homes("ada", "ben")
    with ada.client() as one, ben.client(allow_local_metrics=True) as two:
        await drive(federation, one, two)
    report = await federation.aggregator.api.round_report("demo", 1, OPERATOR)
    assert [named.report.measured for named in report.reports] == [None, None]
    losses = {
        named.client: named.report.measured.train_loss
        for named in read_by_operator(report, frozen).reports
    }
    assert losses["ada"] is None
    assert losses["ben"] is not None


async def test_not_covered_seeing_whether_a_client_goes_on(federation: Federation):
    """Ada is served another aggregate than Ben, and is silent from then on."""
    await federation.start_lines(rounds=rounds(count=1))
    ada, ben = await federation.line_homes("ada", "ben")
    ada.to_aggregator.forgeries.append((AGGREGATE, lambda body: body[:-1] + b"\0"))
    with ada.client() as one, ben.client() as two, pytest.raises(AggregateError):
        await drive(federation, one, two)
    with ben.client() as two:
        await drive(federation, two)
    assert ben.to_aggregator.sent(request_of("PUT", "/reports/ben"))
    assert not ada.to_aggregator.sent(request_of("PUT", "/reports/ada"))


async def test_not_covered_seeing_who_takes_part_when_and_with_how_much(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients[:2])
    updates = (await opened.api.round_report(opened.run, 1, OPERATOR)).updates
    seen = {update.client: (update.size, update.received_at) for update in updates}
    now = opened.clock.now()
    assert seen == {c: (len(opened.sent[1, c].body), now) for c in ("ada", "ben")}


def pairs_of(scene: Scene) -> NDArray[np.int64]:
    """The sums of both updates for every pair of permutations, with the norm bound applied as
    every aggregator applies it."""
    (first,), (second,) = (
        bounded_by_hand(scene.upload(home)["values"], scene.frozen.content) for home in scene.homes
    )
    orders = np.argsort(PERMUTATIONS, axis=1)
    return (first[orders][:, None, :] + second[orders][None, :, :]).reshape(-1, POSITIONS)


async def test_blocked_picking_the_permutations_by_a_reported_loss(
    federation: Federation,
):
    scene = await scene_of(federation)
    await scene.play()
    assert [await scene.said(home) for home in scene.homes] == [None, None]


async def test_not_covered_picking_the_permutations_by_a_loss_in_the_clear(
    federation: Federation,
):
    """Both updates unshuffled: one loss picks one of 518,400 pairs, or, where two values differ in
    one update as two do in the other, the few that exchange both and have the same sum."""
    scene = await scene_of(federation)
    await scene.play(reports="clear")
    told = await scene.said(scene.homes[0])
    assert told is not None
    sums = pairs_of(scene)
    assert len(sums) == 518_400
    found = picked(scene.losses(sums), told.loss)
    assert len(found) <= 8
    assert len(np.unique(sums[found], axis=0)) == 1
    pairs = [divmod(one, len(PERMUTATIONS)) for one in found]
    assert [scene.permutation(home) for home in scene.homes] in [
        [PERMUTATIONS[one].tolist() for one in pair] for pair in pairs
    ]
    assert all(IN_CLEAR in home.summary.privacy["notes"] for home in scene.homes)
