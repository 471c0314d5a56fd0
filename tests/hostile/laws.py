"""What every answer must be, whatever was asked."""

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from urllib.parse import unquote

import httpx
from schemathesis.checks import load_all_checks
from schemathesis.core.failures import FailureGroup
from schemathesis.core.jsonschema import make_validator
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from fedperm.wire.problem import METHOD_NOT_ALLOWED, TYPE_PREFIX, UNKNOWN_PATH, Problem
from tests.hostile.credentials import Attempt, may
from tests.hostile.exchange import Exchange
from tests.hostile.world import Scene

load_all_checks()


class Breach(StrEnum):
    SERVER_ERROR = "5xx"
    UNDOCUMENTED = "undocumented"
    WITHOUT_SCOPE = "reached without scope"
    NO_PROBLEM = "error without a right problem document"
    SECRET = "secret repeated"  # noqa: S105 (a name, not a secret)


DOCUMENTED = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def breaches(exchange: Exchange, scene: Scene, who: str) -> Iterator[tuple[Breach, str]]:
    """`who` is whom the protocol lets in here."""
    status = exchange.response.status_code
    if status >= 500:
        yield Breach.SERVER_ERROR, str(status)
    if status < 400 and not _is_allowed(exchange, scene, who):
        yield Breach.WITHOUT_SCOPE, exchange.shot.role.value
    if status >= 400 and (wrong := _wrong_problem(exchange)):
        yield Breach.NO_PROBLEM, wrong
    if any(secret in exchange.response.text for secret in scene.secrets):
        yield Breach.SECRET, exchange.shot.role.value
    if _is_elsewhere(exchange):
        return
    if wrong := _undocumented(exchange):
        yield Breach.UNDOCUMENTED, wrong
    if status < 400 and not _is_described(exchange):
        yield Breach.UNDOCUMENTED, "a body was taken that the description does not allow"


def _is_allowed(exchange: Exchange, scene: Scene, who: str) -> bool:
    shot, sent = exchange.shot, exchange.response.request.content
    has_proof = any(proof.encode() in sent for proof in scene.proofs)
    return may(Attempt(shot.role, shot.case.path_parameters, has_proof), who)


def _wrong_problem(exchange: Exchange) -> str:
    response = exchange.response
    if response.headers.get("Content-Type") != "application/problem+json":
        return f"content type {response.headers.get('Content-Type')}"
    problem = Problem.model_validate_json(response.content)
    if problem.status != response.status_code or not problem.type.startswith(TYPE_PREFIX):
        return "another status or type than its own"
    if problem.request_id != response.headers["X-Request-ID"]:
        return "another request id"
    if response.status_code == 401 and response.headers.get("WWW-Authenticate") != "Bearer":
        return "no WWW-Authenticate"
    return ""


def _is_elsewhere(exchange: Exchange) -> bool:
    """The path or the method is not the operation's: a slash in a name, say. Then it is said to be
    unknown, and nothing else."""
    sent = exchange.response.request
    form = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(exchange.shot.case.path))
    is_there = re.fullmatch(form, unquote(sent.url.raw_path.decode().partition("?")[0]))
    is_said = any(
        f"{TYPE_PREFIX}{kind.kind}" in exchange.response.text
        for kind in (UNKNOWN_PATH, METHOD_NOT_ALLOWED)
    )
    return is_said and (
        is_there is None or sent.method != exchange.shot.case.operation.method.upper()
    )


def _is_described(exchange: Exchange) -> bool:
    """Whether the description allows the body that was sent."""
    operation = exchange.shot.case.operation
    described = operation.get_body_for_media_type("application/json")
    if described is None:
        return True
    validator = make_validator(
        described.validation_schema, operation.schema.adapter.jsonschema_validator_cls
    )
    try:
        return validator.is_valid(json.loads(exchange.response.request.content))
    except ValueError:
        return False


def _undocumented(exchange: Exchange) -> str:
    """Schemathesis could not make sense of the odd headers that were sent."""
    given = exchange.response
    plain = httpx.Request(given.request.method, given.request.url)
    answer = httpx.Response(
        given.status_code, headers=given.headers, content=given.content, request=plain
    )
    answer.elapsed = given.elapsed
    try:
        exchange.shot.case.validate_response(answer, checks=DOCUMENTED)
    except FailureGroup as group:
        return "; ".join(f"{type(e).__name__}: {e}" for e in group.exceptions)
    return ""
