"""The parties that the aggregator never meets: a key server that signs, and one update for all."""

import hashlib
import secrets
from dataclasses import dataclass
from random import Random

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from experiments.rush.setting import LONGEST_SECONDS, Setting
from fedperm.ids import ClientName, EpochNumber, KeyName, RoundNumber, RunName
from fedperm.run_document import FrozenDocument, RunDocument
from fedperm.services import AGGREGATOR
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
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_secret.schemes.paillier.keys import SecretKey, generate_key
from fedperm_secret.schemes.registry import SECRET_SCHEMES

RUN, KEY, EPOCH = RunName("rush"), KeyName("rush-key"), EpochNumber(1)
_MARGIN_SECONDS = 100


@dataclass(frozen=True)
class Guest:
    """A client as far as the aggregator can see."""

    name: ClientName
    secret: bytes
    token: str

    def manifest(self, scene: "Scene", number: RoundNumber) -> str:
        statement = Manifest(
            run=RUN,
            document=scene.document_sha256,
            round=number,
            epoch=EPOCH,
            client=self.name,
            sha256=scene.body_sha256,
            size=len(scene.body),
            tensors=scene.tensors,
        )
        return sign(statement, Ed25519PrivateKey.from_private_bytes(self.secret))


@dataclass(frozen=True)
class Scene:
    """Everything that is made before the doors open; processes hand it to each other."""

    setting: Setting
    document: bytes
    signature: str
    model: bytes
    epoch_record: str
    guests: tuple[Guest, ...]
    body: bytes
    operator: str

    @property
    def document_sha256(self) -> str:
        return hashlib.sha256(self.document).hexdigest()

    @property
    def body_sha256(self) -> str:
        return hashlib.sha256(self.body).hexdigest()

    @property
    def tensors(self) -> dict[str, str]:
        return FrozenDocument(self.document).content.update_body.digests(self.body)


def make_scene(setting: Setting, now: float, randomness: Random) -> Scene:
    signing = Ed25519PrivateKey.generate()
    pair = generate_key(randomness, setting.key_bits, insecure_for_tests=True)
    model = encode_model(np.zeros(setting.parameters))
    operator = OperatorIdentity.drawn(randomness)
    document = _document(setting, model, text_of(signing.public_key()), operator)
    return Scene(
        setting,
        document.octets,
        document.signature,
        model,
        _epoch_record(pair, now, signing),
        tuple(_guest(ClientName(f"guest-{i:04d}"), now, signing) for i in range(setting.clients)),
        _body(document.content, pair, randomness),
        secrets.token_hex(16),
    )


def _document(
    setting: Setting, model: bytes, signing_key: str, operator: OperatorIdentity
) -> FrozenDocument:
    members = {
        "run": RUN,
        "task": {"name": "none"},
        "model": {
            "tensors": [{"name": "w", "shape": [setting.parameters]}],
            "initial_sha256": hashlib.sha256(model).hexdigest(),
        },
        "training": {"learning_rate": 1.0},
        "shuffle": {"k1": setting.k1, "k2": setting.k2},
        "noise": {"clip": 1.0, "laplace_scale": setting.laplace_scale},
        "value_bits": setting.value_bits,
        "norm_bound": {"limit": 1e6},
        "rounds": {
            "count": setting.rounds,
            "clients_per_round": setting.uploads,
            "min_contributors": setting.uploads,
            "start_with": setting.clients,
            "deadline_seconds": setting.seconds,
            "extension_seconds": setting.seconds,
        },
        "key": {
            "key": KEY,
            "parameters": {"key_bits": setting.key_bits},
            "signing_key": signing_key,
        },
        "operator": operator.keys.model_dump(),
        "insecure_for_tests": True,
    }
    return operator.sign(FrozenDocument.of(RunDocument.model_validate(members)))


def _epoch_record(pair: SecretKey, now: float, signing: Ed25519PrivateKey) -> str:
    public = pair.public_key
    record = EpochRecord(
        key=KEY,
        epoch=EPOCH,
        scheme=SchemeSpec.of_bits(public.key_bits),
        public=dict(public.material),
        key_id=public.key_id,
        iat=int(now),
    )
    return sign(record, signing)


def _guest(name: ClientName, now: float, server: Ed25519PrivateKey) -> Guest:
    own = Ed25519PrivateKey.generate()
    token = AccessToken(
        iss=fingerprint(text_of(server.public_key())),
        sub=name,
        aud=AGGREGATOR.audience,
        scope=AGGREGATOR.scope,
        key=KEY,
        cnf=Confirmation(jwk=JsonWebKey(x=text_of(own.public_key()))),
        iat=int(now),
        exp=int(now + LONGEST_SECONDS) + _MARGIN_SECONDS,
        jti=name,
    )
    return Guest(name, own.private_bytes_raw(), sign(token, server))


def _body(document: RunDocument, pair: SecretKey, randomness: Random) -> bytes:
    """Any values and patterns will do: what they mean is nothing to the aggregator."""
    plan = document.plan
    geometry, top = plan.geometry, plan.fixed_point.top
    drawn = [randomness.randint(0, top) for _ in range(geometry.padded_d)]
    coded = np.array(drawn, plan.fixed_point.dtype).reshape(geometry.windows, geometry.k1)
    terms = document.terms(pair.public_key)
    half = SECRET_SCHEMES[document.scheme.name].secret_half(pair, plan.layout)
    arrays = terms.form.prepare(coded, plan, half.encoder(randomness), randomness)
    return terms.body.encode(arrays)
