"""At the edge: problems for everything, limits, metrics, and a description of it all."""

import json

import pytest

from fedperm.services import AGGREGATOR, KEY_SERVER
from fedperm.web.rate_limit import RateLimit
from fedperm.web.requests import SMALL_BODY
from fedperm.wire.key_server import AccessTokenRequest, TokenRequest
from tests.keyserver.member import Member
from tests.keyserver.refusals import problem
from tests.keyserver.server import OPERATOR

pytestmark = pytest.mark.anyio
HEADERS = {"Authorization": f"Bearer {OPERATOR}", "Content-Type": "application/json"}


async def test_paths_methods_and_bodies_that_are_wrong_are_problems(server):
    cases = [
        ("GET", "/v1/nothing", b"", 404, "unknown-path"),
        ("GET", "/v1/keys/other", b"", 404, "unknown-resource"),
        ("POST", "/v1/keys/demo", b"", 405, "method-not-allowed"),
        ("PUT", "/v1/keys/new", b" " * (SMALL_BODY + 1), 413, "body-too-large"),
        (
            "PUT",
            "/v1/keys/new",
            b'{"scheme": {"parameters": {"key_bits": "512"}}}',
            422,
            "invalid-request",
        ),
        ("PUT", "/v1/keys/new", b'{"more": 1}', 422, "invalid-request"),
        ("PUT", "/v1/keys/new", b"{", 422, "invalid-request"),
        ("PUT", "/v1/keys/NEW", b"{}", 422, "invalid-request"),
        ("GET", "/v1/keys/demo/epochs/0", b"", 422, "invalid-request"),
        ("GET", "/v1/keys/demo/epochs/x", b"", 422, "invalid-request"),
        ("PUT", f"/v1/keys/demo/epochs/{1 << 31}", b"", 422, "invalid-request"),
        ("GET", "/v1/audit?after=-1", b"", 422, "invalid-request"),
        ("GET", f"/v1/audit?after={10**30}", b"", 422, "invalid-request"),
        (
            "PUT",
            "/v1/keys/new",
            b'{"scheme": {"parameters": {"key_bits": 6400000}}}',
            422,
            "wrong-key",
        ),
    ]
    for method, path, body, status, kind in cases:
        answer = await server.http.request(method, path, content=body, headers=HEADERS)
        assert (answer.status_code, problem(answer).kind) == (status, kind), (method, path)


async def test_an_encoded_body_is_refused(server):
    headers = {**HEADERS, "Content-Encoding": "gzip"}
    answer = await server.http.put("/v1/keys/new", content=b"x", headers=headers)
    assert (answer.status_code, problem(answer).kind) == (415, "media-type")


STRANGE = [
    "\ud800",
    "\x00",
    "é" * 40,
    "a.b.c",
    "." * 3,
    "x" * 600,
    "",
    None,
    7,
    1e400,
    {},
    [],
    True,
]


async def test_strange_values_never_crash_the_server(server):
    """Lone surrogates, NULs, infinities, other types, in every member of every body."""
    bodies = {
        "/v1/keys/demo/clients": {"token": "t", "proof": "p"},
        "/v1/access-tokens": {"assertion": "a", "audience": "fedperm-aggregator"},
        "/v1/keys/demo/enrolment-tokens": {"uses": 1, "expires_in_seconds": 1.0, "client": "a"},
    }
    for path, body in bodies.items():
        for member in body:
            for strange in STRANGE:
                content = json.dumps({**body, member: strange}).encode()
                answer = await server.http.post(path, content=content, headers=HEADERS)
                allowed = {401, 422, 201} if "tokens" in path else {401, 422}
                assert answer.status_code in allowed, (path, member, strange, answer.text)


async def test_a_refused_body_is_not_repeated(server):
    """It may hold a secret."""
    body = json.dumps({"token": ["fpt1.secret"], "proof": "a"})
    answer = await server.http.post("/v1/keys/demo/clients", content=body, headers=HEADERS)
    assert answer.status_code == 422
    assert "secret" not in answer.text


async def test_enrolment_has_a_rate_limit(start, clock):
    server = start(enrolment_limit=RateLimit(2, 0.5, clock))
    enrolment = Member(server, clock).enrolment("nonsense")

    async def status() -> int:
        return (await server.send("POST", "/v1/keys/demo/clients", enrolment)).status_code

    assert [await status() for _ in range(3)] == [401, 401, 429]
    answer = await server.send("POST", "/v1/keys/demo/clients", enrolment)
    assert problem(answer).kind == "rate-limit"
    assert answer.headers["Retry-After"] == "2"
    clock.advance(2)
    assert [await status() for _ in range(2)] == [401, 429]


async def test_access_tokens_have_a_rate_limit_of_their_own(start, clock):
    server = start(access_limit=RateLimit(1, 1, clock))
    wanted = AccessTokenRequest(assertion="nonsense", audience=KEY_SERVER.audience)

    async def status() -> int:
        return (await server.send("POST", "/v1/access-tokens", wanted)).status_code

    assert [await status() for _ in range(2)] == [401, 429]
    clock.advance(1)
    assert await status() == 401
    assert (await server.send("GET", "/v1/identity")).status_code == 200


async def test_metrics_count_what_happened_without_names(server, enrolled, clock):
    member = await enrolled(client="hospital-a")
    await member.access(AGGREGATOR)
    await member.secret_key(1)
    await server.send("POST", "/v1/keys/demo/clients", member.enrolment("nonsense"))
    twice = await server.api.mint_token("demo", TokenRequest(), OPERATOR)
    other = Member(server, clock)
    for _ in range(2):
        await other.enrol(twice.token)
    text = (await server.send("GET", "/metrics")).text
    for line in (
        'fedperm_keyserver_enrolments_total{result="new"} 2.0',
        'fedperm_keyserver_enrolments_total{result="again"} 1.0',
        'fedperm_keyserver_enrolments_total{result="refused"} 1.0',
        'fedperm_keyserver_access_tokens_total{audience="fedperm-aggregator"} 1.0',
        'fedperm_keyserver_access_tokens_total{audience="fedperm-keyserver"} 1.0',
        "fedperm_keyserver_releases_total 1.0",
        'route="/v1/keys/{key}/epochs/{epoch}/releases",status="201"} 1.0',
    ):
        assert line in text
    assert "hospital-a" not in text
    assert "demo" not in text


async def test_the_description_names_every_answer_that_the_walk_saw(server):
    document = (await server.send("GET", "/openapi.json")).json()
    release = document["paths"]["/v1/keys/{key}/epochs/{epoch}/releases"]["post"]
    assert {"201", "401", "403", "404", "422", "503"} <= release["responses"].keys()
    assert "application/problem+json" in release["responses"]["403"]["content"]
    for path, methods in document["paths"].items():
        for operation in methods.values():
            assert operation["summary"], path
            if path.startswith("/v1"):
                assert {"422", "503"} <= operation["responses"].keys()
