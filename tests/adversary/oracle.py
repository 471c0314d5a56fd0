"""An aggregator that reads where a client's values belong from what clients say of the model.

It is the real one, with other answers in some places; its clients are stock clients. All that it
uses is what it has: the public key, the uploads, the task's public test data, and the reports.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from experiments.report_oracle.attack import own_aggregate
from fedperm.normalisation import denormalise
from fedperm.run_document import FrozenDocument
from fedperm.schemes.paillier.public_key import PublicKey, read_ciphertexts
from fedperm.wire.aggregator import TestMetrics
from fedperm.wire.digest import sha256_of
from fedperm.wire.key_server import TokenRequest
from fedperm.wire.model import decode_model
from fedperm_client.initial_model import initial_model
from fedperm_client.participant import Participant
from fedperm_client.tasks.task import TaskContext
from fedperm_secret.schemes.paillier.decryption import Decryptor
from fedperm_secret.schemes.paillier.keys import SecretKey
from tests.adversary.oracle_task import Oracle
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.client.cut_line import request_of
from tests.client.documents import document, rounds
from tests.client.federation import KEY, Federation, Home, drive
from tests.core.federation import checked
from tests.keyserver.member import Member
from tests.keyserver.server import OPERATOR as KEY_OPERATOR

TASK = f"{Path(__file__).parent / 'oracle_task.py'}:Oracle"
INITIAL = initial_model(TASK, {}, seed=0)
POSITIONS = INITIAL.spec.parameters
PERMUTATIONS = np.array(list(permutations(range(POSITIONS))))
POWERS = {column: 3**column for column in range(POSITIONS)}
"""Each column leaves another trace, so that one answer tells of all of them."""


@dataclass(frozen=True, eq=False)
class Scene:
    """One round of two clients, whose geometry is the smallest: all parameters in one window."""

    federation: Federation
    frozen: FrozenDocument
    homes: tuple[Home, ...]
    key: SecretKey
    """The judge's: it tells whether the attacker is right."""

    @property
    def public_key(self) -> PublicKey:
        return self.key.public_key

    async def play(self, **settings: Any) -> None:
        with self.clients(**settings) as (one, two):
            await drive(self.federation, one, two)

    @contextmanager
    def clients(self, **settings: Any) -> Iterator[tuple[Participant, Participant]]:
        ada, ben = self.homes
        own = {"task": TASK, "accountant": "no-shuffle-rdp"}
        with ada.client(**own, **settings) as one, ben.client(**own, **settings) as two:
            yield one, two

    def upload(self, home: Home) -> dict[str, NDArray[Any]]:
        (body,) = home.uploads(1)
        return dict(checked(body, self.frozen.content.plan, self.public_key))

    def permutation(self, home: Home) -> list[int]:
        """As only the secret key shows it."""
        decryptor, packing = Decryptor(self.key), self.frozen.content.plan.layout.packing
        columns = [decryptor.decrypt(mask) for mask in read_ciphertexts(self.upload(home)["masks"])]
        return [(int(column).bit_length() - 1) // packing.slot_bits for column in columns]

    async def said(self, home: Home) -> TestMetrics | None:
        """What the aggregator can read of a client's report on round 1."""
        report = await self.federation.aggregator.api.round_report("demo", 1, RUN_OPERATOR)
        told = {named.client: named.report for named in report.reports}
        return told[home.name].test

    def losses(self, sums: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of the models that these sums of two clients lead to, one a row: on public data."""
        plan, clip = self.frozen.content.plan, self.frozen.content.noise.clip
        mean = plan.fixed_point.decode_mean(sums, 2)
        models = decode_model(INITIAL.body, POSITIONS) + denormalise(mean, clip)
        tested = Oracle(TaskContext({}, 0, 1, Path())).test_data()
        assert tested is not None
        inputs, targets = tested.inputs.numpy(), tested.targets.numpy()
        outputs = models[:, :-1] @ inputs.T + models[:, -1:]
        return np.asarray(((outputs - targets.T) ** 2).mean(axis=1))


async def scene_of(federation: Federation) -> Scene:
    wanted = document(
        INITIAL,
        task={"name": "oracle", "options": {"shards": 2}},
        shuffle={"k1": POSITIONS, "k2": 1},
        rounds=rounds(count=1),
    )
    frozen = await federation.start(INITIAL, wanted)
    minted = await federation.key_server.api.mint_token(KEY, TokenRequest(), KEY_OPERATOR)
    judge = Member(federation.key_server, federation.clock, KEY)
    homes = tuple(await federation.homes("ada", "ben"))
    await judge.enrol(minted.token)
    return Scene(federation, frozen, homes, await judge.secret_key(1))


def publish_own_sums(scene: Scene, victim: Home) -> NDArray[np.int64]:
    """From now on all clients get sums that say "no update", plus the victim's masks raised to
    POWERS. What is returned are the sums without the masks."""
    plan = scene.frozen.content.plan
    base = np.full((1, POSITIONS), plan.fixed_point.top, np.int64)
    made: list[bytes] = []

    def body(_: bytes = b"") -> bytes:
        if not made:
            (masks,) = scene.upload(victim)["masks"]
            key, randomness = scene.public_key, Random(8)
            made.append(own_aggregate(base, masks, POWERS, plan, key, 2, randomness))
        return made[0]

    def outcome(content: bytes) -> bytes:
        members = json.loads(content)
        members["aggregate"] |= {"sha256": sha256_of(body()), "size": len(body())}
        return json.dumps(members).encode()

    for home in scene.homes:
        lies = home.to_aggregator.forgeries
        lies.append((request_of("GET", "/runs/demo/rounds/1"), outcome))
        lies.append((request_of("GET", "/rounds/1/aggregate"), body))
    return base


def traces(base: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sums after the question, for each permutation that the victim may have drawn."""
    sums = np.repeat(base, len(PERMUTATIONS), axis=0)
    for column, power in POWERS.items():
        sums[np.arange(len(sums)), PERMUTATIONS[:, column]] += power
    return sums


def picked(losses: NDArray[np.float64], told: float) -> list[int]:
    """The candidates that explain what was told; in double precision that is one."""
    return np.flatnonzero(np.abs(losses - told) <= 1e-13 * abs(told)).tolist()


def received(home: Home) -> list[tuple[str, str, Any]]:
    """All that reaches the aggregator from a client: what is sealed as its length, uploads without
    their bytes, and no clock, of which there is only a sum of tenths."""
    return [_shape(request) for request in home.to_aggregator.requests]


def _shape(request: httpx.Request) -> tuple[str, str, Any]:
    place = request.method, request.url.path
    if "/reports/" in request.url.path:
        told = json.loads(request.content)
        tenths = [round(10 * seconds) / 10 for seconds in told["seconds"].values()]
        assert tenths == list(told.pop("seconds").values())
        return (*place, {**told, "sealed": len(told["sealed"])})
    return (*place, len(request.content))
