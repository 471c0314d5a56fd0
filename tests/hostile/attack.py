"""Requests for one operation: generated from its description, with more or less of them right."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.schemas import APIOperation

from fedperm.wire.body import MEDIA_TYPE
from tests.hostile.credentials import Attempt, Endpoint, Role, documented, may
from tests.hostile.mangled import mangled
from tests.hostile.shot import Shot
from tests.hostile.world import RightRequest, Scene

Send = Callable[[Shot], None]

schemathesis.openapi.media_type(MEDIA_TYPE, st.binary(max_size=2000))

THREE_OF_FOUR = st.sampled_from((True, True, True, False))
ODD = (
    ("Accept", "text/html"),
    ("Authorization", "Bearer"),
    ("Authorization", "Basic YTpi"),
    ("Content-Digest", "sha-256=:AAAA:"),
    ("Content-Encoding", "gzip"),
    ("Content-Length", ""),
    ("Content-Length", "0"),
    ("Content-Length", "9" * 18),
    ("Content-Type", ""),
    ("Content-Type", "text/plain"),
    ("Content-Type", "application/json; charset=utf-16"),
    ("Fedperm-Manifest", "a.b.c"),
    ("Host", "elsewhere"),
    ("If-None-Match", "*"),
    ("Last-Event-ID", "9" * 18),
    ("Last-Event-ID", "-1"),
    ("Range", "bytes=5-"),
    ("X-Forwarded-For", "127.0.0.1"),
    ("X-Request-ID", "a b"),
)
"""Headers that mean something somewhere; without a text a header is taken away."""
_TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"))


@dataclass(frozen=True)
class Target:
    """An operation of a server, and whom the protocol lets use it."""

    server: str
    operation: APIOperation
    who: str

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint.of(self.operation.method.upper(), self.operation.path)

    def __str__(self) -> str:
        return f"{self.server}: {self.operation.label}"


def targets(apps: dict[str, Any]) -> list[Target]:
    """All operations of both descriptions; one that the protocol does not know is for nobody."""
    who = documented()
    return [
        Target(server, operation, who.get(endpoint_of(operation), "nobody"))
        for server, app in apps.items()
        for operation in _operations(app)
    ]


def endpoint_of(operation: APIOperation) -> Endpoint:
    return Endpoint.of(operation.method.upper(), operation.path)


def _operations(app: Any) -> Iterator[APIOperation]:
    schema = schemathesis.openapi.from_dict(app.openapi())
    for result in schema.get_all_operations():
        yield result.ok()


def attack(target: Target, scene: Scene, requests: int, number: int, send: Send) -> None:
    """So many generated requests at most, the same for the same number."""

    @seed(number)
    @settings(
        max_examples=requests,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(_shots(target, scene))
    def send_all(shot: Shot) -> None:
        send(shot)

    send_all()


def at_the_edges(target: Target) -> Iterator[Case]:
    """Schemathesis's own list of border cases: missing, too long, doubled, of another method."""
    operation = target.operation
    return operation.schema.iter_coverage_cases(
        operation,
        generation_modes=list(GenerationMode),
        generation_config=operation.schema.config.generation_for(operation=operation),
    )


def let_in(target: Target) -> list[Role]:
    """Those for whom the endpoint is, if the path names them too."""
    names = {"client": "ada", "key": "main"}
    who = [role for role in Role if may(Attempt(role, names), target.who)]
    return who or list(Role)


def _shots(target: Target, scene: Scene) -> st.SearchStrategy[Shot]:
    right = scene.right.get(target.endpoint, ())

    @st.composite
    def shots(draw: st.DrawFn) -> Shot:
        mode = draw(st.sampled_from(GenerationMode))
        case: Case = draw(target.operation.as_strategy(generation_mode=mode))
        for name in set(case.path_parameters) & set(scene.names):
            if draw(THREE_OF_FOUR):
                case.path_parameters[name] = draw(st.sampled_from(scene.names[name]))
        if right and draw(THREE_OF_FOUR):
            _make_right(draw, case, draw(st.sampled_from(right)))
        return Shot(case, draw(_roles(target)), draw(_headers()), draw(_bodies(right)))

    return shots()


def _roles(target: Target) -> st.SearchStrategy[Role]:
    """Half of them are let in: else nobody gets far."""
    return st.sampled_from(let_in(target)) | st.sampled_from(Role)


def _headers() -> st.SearchStrategy[dict[str, str]]:
    """Mostly none."""
    known = st.sampled_from(ODD)
    made_up = st.tuples(known.map(lambda pair: pair[0]), _TEXT)
    return st.just({}) | st.lists(known | made_up, max_size=2).map(dict)


def _bodies(right: tuple[RightRequest, ...]) -> st.SearchStrategy[bytes | None]:
    """Mostly the case's own."""
    if not right:
        return st.none() | st.none() | st.binary(max_size=100)
    octets = st.sampled_from([request.octets for request in right])
    return st.none() | st.none() | mangled(octets)


def _make_right(draw: st.DrawFn, case: Case, right: RightRequest) -> None:
    """All of it, or all but one part, or but one member of the body."""
    wrong = draw(st.sampled_from(("nothing", "path", "headers", "body", "member")))
    if wrong != "path":
        case.path_parameters.update(right.parameters)
    if wrong != "headers":
        case.headers.update(right.headers)
    if wrong == "member" and isinstance(right.body, dict) and isinstance(case.body, dict):
        kept = draw(st.sets(st.sampled_from(sorted(right.body) or ["none"])))
        case.body = case.body | {n: v for n, v in right.body.items() if n in kept}
    elif wrong != "body":
        case.body = right.body
