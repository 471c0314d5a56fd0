"""Everything that reads octets of another party, with right ones to begin from."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import httpx
import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from jwt import PyJWS

from fedperm.aggregate import EncryptedSum, decode_aggregate, encode_aggregate
from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience
from fedperm.api.key_server import KeyServerApi
from fedperm.errors import RefusedError
from fedperm.run_document import FrozenDocument
from fedperm.wire.digest import content_digest, parse_content_digest, sha256_of
from fedperm.wire.enrolment_token import EnrolmentToken, parse_token
from fedperm.wire.model import decode_model, encode_model
from fedperm.wire.problem import MEDIA_TYPE as PROBLEM
from fedperm.wire.public_keys import fingerprint, text_of
from fedperm.wire.signed import Statement, sign, unverified, verify
from fedperm.wire.statements import ClientAssertion, EpochRecord, KeyRelease, Manifest
from fedperm_secret.schemes.paillier.keys import generate_key
from tests.aggregator.parties import (
    MODEL,
    PARAMETERS,
    START,
    Client,
    KeyServer,
    ManualClock,
    document_of,
)
from tests.core.federation import checked, half_of, terms_of

KEY_BITS = 512


@dataclass(frozen=True)
class Parser:
    """`again` says what the octets of a result are, where there is only one way to write it."""

    name: str
    right: tuple[bytes, ...]
    parse: Callable[[bytes], Any]
    again: Callable[[Any], bytes] | None = None

    def __repr__(self) -> str:
        return self.name


class _Parties:
    """One of each, and what they would send."""

    def __init__(self) -> None:
        self.pair = generate_key(Random(7), KEY_BITS, insecure_for_tests=True)
        self.public = self.pair.public_key
        self.server = KeyServer(ManualClock(), {1: self.pair})
        self.client = Client("ada")
        self.document = document_of(self.server)
        self.plan = self.document.content.plan
        self.update = self.client.prepare(self.document, 1, 1, self.pair, Random(1))


def parsers() -> list[Parser]:
    parties = _Parties()
    return [*_bodies(parties), *_statements(parties), *_texts(parties), *_answers(parties)]


def _bodies(parties: _Parties) -> list[Parser]:
    plan, public = parties.plan, parties.public
    rows = plan.geometry.windows, plan.layout.packing.groups
    ones = {"ciphertexts": public.to_array([public.n + 1] * (rows[0] * rows[1]), *rows)}
    total = encode_aggregate(EncryptedSum(ones, 3), plan)
    half = half_of(plan, public)
    return [
        Parser(
            "update",
            (parties.update.body,),
            lambda body: checked(body, plan, public),
            terms_of(plan, public).body.encode,
        ),
        Parser(
            "aggregate",
            (total,),
            lambda body: decode_aggregate(body, plan, half),
            lambda found: encode_aggregate(found, plan),
        ),
        Parser(
            "model",
            (MODEL, encode_model(np.zeros(PARAMETERS))),
            lambda body: decode_model(body, PARAMETERS),
            encode_model,
        ),
        Parser("run document", (parties.document.octets,), _plan),
    ]


def _plan(octets: bytes) -> Any:
    return FrozenDocument(octets).content.plan


def _statements(parties: _Parties) -> list[Parser]:
    """The text mangled, and the payload mangled before it is signed by the right party."""
    clock, server, client = int(START), parties.server, parties.client
    assertion = ClientAssertion(
        iss="ada", aud="0" * 64, key="demo-key", iat=clock, exp=clock + 60, jti="1"
    )
    release = KeyRelease(
        key="demo-key", epoch=1, key_id="0" * 64, client="ada", sealed="AAAA", iat=clock
    )
    signed: list[tuple[type[Statement], str, Ed25519PrivateKey]] = [
        (EpochRecord, server.epoch(1), server.signing),
        (KeyRelease, sign(release, server.signing), server.signing),
        (Manifest, parties.update.manifest, client.signing),
        (ClientAssertion, sign(assertion, client.signing), client.signing),
    ]
    found = []
    for kind, text, key in signed:
        right, public = text.encode(), key.public_key()
        payload = unverified(text, kind).model_dump_json().encode()
        found += [
            Parser(kind.__name__, (right,), _verifier(kind, public), lambda _, r=right: r),
            Parser(f"claim of {kind.__name__}", (right,), _reader(kind)),
            Parser(f"payload of {kind.__name__}", (payload,), _signer(kind, key)),
        ]
    return found


def _verifier(kind: type[Statement], public: Any) -> Callable[[bytes], Any]:
    return lambda octets: verify(octets.decode("latin-1"), kind, public)


def _reader(kind: type[Statement]) -> Callable[[bytes], Any]:
    return lambda octets: unverified(octets.decode("latin-1"), kind)


def _signer(kind: type[Statement], key: Ed25519PrivateKey) -> Callable[[bytes], Any]:
    def sign_and_read(payload: bytes) -> Any:
        text = PyJWS().encode(payload, key, algorithm="EdDSA", headers={"typ": kind.typ})
        statement = verify(text, kind, key.public_key())
        if isinstance(statement, EpochRecord):
            statement.public_key(insecure_for_tests=True)
        return statement

    return sign_and_read


def _texts(parties: _Parties) -> list[Parser]:
    identity = fingerprint(parties.server.signing_text)
    token = EnrolmentToken("a-1", bytes(32), identity).text.encode()
    digest = content_digest(sha256_of(b"")).encode()
    return [
        Parser(
            "enrolment token",
            (token,),
            lambda octets: parse_token(octets.decode(errors="surrogateescape")),
            lambda found: found.text.encode(),
        ),
        Parser(
            "content digest",
            (digest,),
            lambda octets: parse_content_digest(octets.decode("latin-1")),
        ),
    ]


def _answers(parties: _Parties) -> list[Parser]:
    """What the typed clients read."""
    key = text_of(parties.server.signing.public_key())
    identity = f'{{"signing_key":"{key}","fingerprint":"{fingerprint(key)}"}}'.encode()
    task = b'{"kind":"train","round":1,"epoch":1,"deadline_at":1.5,"run_state":"running"}'
    event = b'{"id":1,"at":1.5,"event":"run-stopped","round":0,"client":"","details":{}}'
    problem = b'{"type":"urn:fedperm:problem:gone","title":"t","status":410,"detail":"d"}'
    json_type = "application/json"
    return [
        Parser("answer: Identity", (identity,), _asker(200, json_type, _identity)),
        Parser("answer: Task", (task,), _asker(200, json_type, _task)),
        Parser(
            "answer: events",
            (b"id: 1\ndata: " + event + b"\n\n",),
            _asker(200, "text/event-stream", _events),
        ),
        Parser("answer: problem", (problem,), _asker(410, PROBLEM, _refusal)),
    ]


def _asker(status: int, media_type: str, ask: Any) -> Callable[[bytes], Any]:
    def answered(octets: bytes) -> Any:
        headers = {"Content-Type": media_type}
        answer = httpx.Response(status, headers=headers, content=octets)
        transport = httpx.MockTransport(lambda _request: answer)
        http = httpx.AsyncClient(transport=transport, base_url="http://peer")
        return asyncio.run(ask(Connection(http, Patience(0.0))))

    return answered


async def _identity(connection: Connection) -> Any:
    return await KeyServerApi(connection).identity()


async def _refusal(connection: Connection) -> Any:
    """Understood, if it is raised as what the problem says."""
    try:
        return await _identity(connection)
    except RefusedError as refused:
        return refused


async def _task(connection: Connection) -> Any:
    return await AggregatorApi(connection).next_task("demo", "ada", 0, 0.0, "token")


async def _events(connection: Connection) -> Any:
    return [event async for event in AggregatorApi(connection).events("demo", "token")]
