"""The other parties of a run, played by the tests: a key server and clients.

They use the statements and arithmetic of the common library, and nothing of the aggregator's.
"""

import hashlib
import math
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from numpy.typing import NDArray

from fedperm.aggregate import decode_aggregate
from fedperm.errors import BodyError
from fedperm.run_document import FrozenDocument, RunDocument
from fedperm.schemes.paillier.blinding import BlindingPool
from fedperm.schemes.paillier.masks import MaskEncoder
from fedperm.schemes.scheme import Arrays
from fedperm.services import AGGREGATOR, ServiceSpec
from fedperm.wire.model import encode_model
from fedperm.wire.public_keys import fingerprint, text_of
from fedperm.wire.signed import sign
from fedperm.wire.statements import (
    AccessToken,
    Confirmation,
    EpochRecord,
    JsonWebKey,
    Manifest,
    SchemeSpec,
)
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import SecretKey
from tests.core.federation import decrypted_sum, half_of
from tests.documents.operator import OPERATOR_KEYS, signed

OPERATOR = "the run operator's secret of 40 characters"
KEY_OPERATOR = "the key operator's secret, another one"
START = 1_700_000_000.0
PARAMETERS = 10
MODEL = encode_model(np.arange(PARAMETERS, dtype=np.float64))


@dataclass
class ManualClock:
    """Time stands still until a test moves it."""

    time: float = START

    def now(self) -> float:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += seconds


@dataclass
class KeyServer:
    """Signs epoch records and access tokens. Each epoch has a key pair of its own."""

    clock: ManualClock
    pairs: dict[int, SecretKey]
    key: str = "demo-key"
    signing: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)

    @property
    def signing_text(self) -> str:
        return text_of(self.signing.public_key())

    def epoch(self, number: int, **changes: Any) -> str:
        public = self.pairs[number].public_key
        members = {
            "key": self.key,
            "epoch": number,
            "scheme": SchemeSpec.of_bits(public.key_bits),
            "public": dict(public.material),
            "key_id": public.key_id,
            "iat": int(self.clock.now()),
        }
        return sign(EpochRecord(**(members | changes)), self.signing)

    def token(self, client: "Client", service: ServiceSpec = AGGREGATOR) -> str:
        return self.token_with(client, aud=service.audience, scope=service.scope)

    def token_with(self, client: "Client", **changes: Any) -> str:
        now = int(self.clock.now())
        members = {
            "iss": fingerprint(self.signing_text),
            "sub": client.name,
            "aud": AGGREGATOR.audience,
            "scope": AGGREGATOR.scope,
            "key": self.key,
            "cnf": Confirmation(jwk=JsonWebKey(x=text_of(client.signing.public_key()))),
            "iat": now,
            "exp": now + 900,
            "jti": "1",
        }
        return sign(AccessToken(**(members | changes)), self.signing)


@dataclass(frozen=True, eq=False)
class Prepared:
    """An upload, and what the client coded before it shuffled."""

    body: bytes
    manifest: str
    coded: NDArray[Any]
    shuffled: NDArray[Any]


@dataclass
class Client:
    name: str
    signing: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)

    def manifest(
        self, document: FrozenDocument, number: int, epoch: int, body: bytes, /, **changes: Any
    ) -> str:
        members = {
            "run": document.content.run,
            "document": document.sha256,
            "round": number,
            "epoch": epoch,
            "client": self.name,
            "sha256": hashlib.sha256(body).hexdigest(),
            "size": len(body),
            "tensors": signed_digests(document.content, body),
        }
        return sign(Manifest(**(members | changes)), self.signing)

    def prepare(
        self,
        document: FrozenDocument,
        number: int,
        epoch: int,
        pair: SecretKey,
        randomness: Random,
        coded: NDArray[Any] | None = None,
    ) -> Prepared:
        if coded is None:
            coded = random_values(document.content, randomness)
        update = _update(coded, document.content, pair, randomness)
        body = document.content.terms(pair.public_key).body.encode(update)
        manifest = self.manifest(document, number, epoch, body)
        return Prepared(body, manifest, coded, update["values"])


def signed_digests(document: RunDocument, body: bytes) -> dict[str, str]:
    """Of each tensor apart; of a body that is none, whatever a liar would say."""
    try:
        return document.update_body.digests(body)
    except BodyError:
        return {tensor.name: "0" * 64 for tensor in document.update_body.tensors}


def _update(
    coded: NDArray[Any], document: RunDocument, pair: SecretKey, randomness: Random
) -> Arrays:
    pool = BlindingPool(_blinding(pair), randomness)
    encoder = MaskEncoder(document.plan.layout, pool)
    return document.terms(pair.public_key).form.prepare(coded, document.plan, encoder, randomness)


@cache
def _blinding(pair: SecretKey) -> SecretBlinding:
    """Tables are made once for each key."""
    return SecretBlinding(pair)


def random_values(document: RunDocument, randomness: Random) -> NDArray[Any]:
    """Uniform coded integers: their norm is above the bound about half the time."""
    plan = document.plan
    drawn = [randomness.randint(0, plan.fixed_point.top) for _ in range(plan.geometry.padded_d)]
    shape = (plan.geometry.windows, plan.geometry.k1)
    return np.array(drawn, plan.fixed_point.dtype).reshape(shape)


def bounded_by_hand(values: NDArray[Any], document: RunDocument) -> NDArray[np.int64]:
    """Norm bounding as docs/protocol.md states it (centred form)."""
    assert document.norm_bound is not None
    limit = document.norm_bound.limit
    top = 2**document.value_bits - 1
    step = (1 + 16 * document.noise.laplace_scale) / top
    centred = values.astype(np.float64) - top / 2
    norm = step * math.sqrt(float((centred**2).sum()))
    if norm <= limit:
        return values.astype(np.int64)
    factor = (limit - step * math.sqrt(values.size) / 2) / norm
    return np.rint(top / 2 + factor * centred).astype(np.int64)


def decrypted(body: bytes, document: RunDocument, pair: SecretKey) -> NDArray[np.int64]:
    """The integer sums in a published aggregate."""
    total = decode_aggregate(body, document.plan, half_of(document.plan, pair.public_key))
    return decrypted_sum(total, document.plan, pair)


def document_of(server: KeyServer, **changes: Any) -> FrozenDocument:
    """A run of three clients, two of them needed; `changes` are of top-level members, those of
    `rounds` are merged."""
    members = {
        "run": "digits",
        "task": {"name": "none"},
        "model": {
            "tensors": [{"name": "w", "shape": [PARAMETERS]}],
            "initial_sha256": hashlib.sha256(MODEL).hexdigest(),
        },
        "training": {"learning_rate": 0.1},
        "shuffle": {"k1": 4, "k2": 2},
        "noise": {"clip": 1.0, "laplace_scale": 0.0},
        "value_bits": 8,
        "norm_bound": {"limit": 1.0},
        "key": {
            "key": server.key,
            "parameters": {"key_bits": 512},
            "signing_key": server.signing_text,
        },
        "operator": OPERATOR_KEYS,
        "insecure_for_tests": True,
    }
    rounds = {
        "count": 2,
        "clients_per_round": 3,
        "min_contributors": 2,
        "start_with": 3,
        "deadline_seconds": 60.0,
        "extension_seconds": 20.0,
        "extensions": 1,
        "give_up_after": 2,
    }
    rounds |= changes.pop("rounds", {})
    return signed(RunDocument.model_validate(members | {"rounds": rounds} | changes))
