"""What is sent: whole requests in octets, made beforehand."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from experiments.rush.crowd import REPORT
from experiments.rush.scene import RUN
from fedperm.web.requests import CREDENTIAL_BODY, SMALL_BODY

OUTSIDER, ENROLLED = "outsider", "enrolled client"
_LONG_JWS = 16_384
NO_HEADERS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Shot:
    """`server` is the service's name; each request may be another one, as an assertion must be."""

    name: str
    server: str
    sender: str
    request: Callable[[int], bytes]


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def request(
    method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = NO_HEADERS
) -> bytes:
    given = {"Host": "a", **headers}
    if body:
        given |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def unknown_members(octets: int, first: str = "") -> bytes:
    """As many short members as a body of this length holds."""
    body = "{" + first
    for number in count():
        member = f'"{number:x}":0,'
        if len(body) + len(member) > octets:
            return (body[:-1] + "}").encode()
        body += member
    raise AssertionError


def outsider_shots(stranger: str) -> Iterator[Shot]:
    """`stranger` is an assertion in the right form by somebody who is not enrolled."""
    access, enrol = "/v1/access-tokens", "/v1/keys/demo/clients"
    beat = f"/v1/runs/{RUN}/participants/guest-0000/heartbeat"
    jws = f'"assertion":"{stranger}","audience":"fedperm-aggregator"'.encode()

    def same(name: str, server: str, octets: bytes) -> Shot:
        return Shot(name, server, OUTSIDER, lambda _number: octets)

    yield same("/livez", "keyserver", request("GET", "/livez"))
    yield same("unknown path", "keyserver", request("GET", "/nowhere"))
    yield same("garbage for a token", "keyserver", request("POST", access, b"x" * CREDENTIAL_BODY))
    yield same(
        "unknown members for a token",
        "keyserver",
        request("POST", access, unknown_members(CREDENTIAL_BODY)),
    )
    yield same(
        "unknown members beside an assertion",
        "keyserver",
        request("POST", access, unknown_members(CREDENTIAL_BODY, jws.decode() + ",")),
    )
    yield same("assertion of a stranger", "keyserver", request("POST", access, b"{" + jws + b"}"))
    yield same(
        "deep nesting for a token",
        "keyserver",
        request("POST", access, b"[" * (CREDENTIAL_BODY // 2) + b"]" * (CREDENTIAL_BODY // 2)),
    )
    yield same(
        "unknown members for an enrolment",
        "keyserver",
        request("POST", enrol, unknown_members(CREDENTIAL_BODY)),
    )
    token = f'"token":"fpt1.a.{"B" * 42 + "A"}.{"0" * 64}",'
    keys = f'"signing_key":"{"B" * 42 + "A"}","sealing_key":"{"B" * 42 + "A"}"'
    yield same(
        "guessed enrolment token",
        "keyserver",
        request("POST", enrol, f"{{{token}{keys}}}".encode()),
    )
    yield same(
        "248 kB announced",
        "keyserver",
        request("POST", access, headers={"Content-Length": "248000", "Connection": "close"}),
    )
    yield same(
        "heads of 60 kB", "aggregator", request("GET", "/livez", headers={"X-Long": "x" * 60_000})
    )
    yield same(
        "1,000 headers",
        "aggregator",
        request("GET", "/livez", headers={f"X-{number}": "x" for number in range(1000)}),
    )
    yield same("/openapi.json", "aggregator", request("GET", "/openapi.json"))
    yield same("/metrics", "aggregator", request("GET", "/metrics"))
    yield same(
        "heartbeat without a credential",
        "aggregator",
        request("PUT", beat, unknown_members(SMALL_BODY)),
    )
    yield same(
        "heartbeat with a bearer of 16,384 characters",
        "aggregator",
        request("PUT", beat, unknown_members(SMALL_BODY), headers=_bearer("A" * _LONG_JWS)),
    )
    yield same(
        "heartbeat with a stranger's token",
        "aggregator",
        request("PUT", beat, unknown_members(SMALL_BODY), headers=_bearer(stranger)),
    )
    yield same(
        "upgrade to a WebSocket",
        "aggregator",
        request("GET", "/livez", headers={"Connection": "Upgrade", "Upgrade": "websocket"}),
    )


def enrolled_shots(token: str, release_token: str, assertion: Callable[[], str]) -> Iterator[Shot]:
    """`token` is for the aggregator, `release_token` for the key server."""
    here = f"/v1/runs/{RUN}"
    mine, bearer = f"{here}/participants/guest-0000", _bearer(token)

    def same(name: str, octets: bytes) -> Shot:
        return Shot(name, "aggregator", ENROLLED, lambda _number: octets)

    good = b'{"phase":"idle","round":0}'
    yield same("heartbeat", request("PUT", f"{mine}/heartbeat", good, headers=bearer))
    yield same(
        "heartbeat of unknown members",
        request("PUT", f"{mine}/heartbeat", unknown_members(SMALL_BODY), headers=bearer),
    )
    yield same("poll", request("GET", f"{mine}/task?settled=0&wait_seconds=0", headers=bearer))
    yield same("document", request("GET", f"{here}/document", headers=bearer))
    report = REPORT.model_dump_json().encode()
    yield same(
        "report of no round",
        request("PUT", f"{here}/rounds/1/reports/guest-0000", report, headers=bearer),
    )
    yield Shot(
        "access token",
        "keyserver",
        ENROLLED,
        lambda _number: request(
            "POST",
            "/v1/access-tokens",
            f'{{"assertion":"{assertion()}","audience":"fedperm-aggregator"}}'.encode(),
        ),
    )
    yield Shot(
        "release",
        "keyserver",
        ENROLLED,
        lambda _number: request(
            "POST", "/v1/keys/demo/epochs/1/releases", headers=_bearer(release_token)
        ),
    )
