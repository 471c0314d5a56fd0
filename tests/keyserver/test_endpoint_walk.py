"""Every route, tried by everybody: each cell of the table is asserted."""

from collections.abc import Iterable
from dataclasses import dataclass

import pytest
from starlette.routing import BaseRoute

from fedperm.services import AGGREGATOR, KEY_SERVER
from fedperm.wire.key_server import AccessTokenRequest, KeyRequest, TokenRequest
from fedperm.wire.message import Message
from fedperm.wire.public_keys import to_text
from fedperm.wire.statements import SchemeSpec
from tests.keyserver.member import Member
from tests.keyserver.refusals import problem
from tests.keyserver.server import KEY_BITS, OPERATOR, RUN_OPERATOR, TOKEN_SECONDS
from tests.web.unread import Unread

pytestmark = pytest.mark.anyio

NONCE = "0f" * 16
WHO = (
    "nobody",
    "the run operator",
    "a client's token for the aggregator",
    "an expired token",
    "a client of another key",
    "a revoked client",
    "a client",
    "the key operator",
)

OPEN = (200, 200, 200, 200, 200, 200, 200, 200)
"""For everybody, with any credential or none."""
OPERATORS = (401, 401, 401, 401, 401, 401, 401, 200)
OPERATORS_MAKES = (401, 401, 401, 401, 401, 401, 401, 201)
IN_THE_BODY = (401, 401, 401, 401, 401, 401, 401, 401)
"""The credential is in the body, a wrong one here; the header opens nothing."""
CLIENTS = (401, 401, 403, 401, 403, 403, 200, 401)
ANOTHER_CLIENTS = (401, 401, 403, 401, 403, 403, 403, 401)
CLIENTS_MAKES = (401, 401, 403, 401, 403, 403, 201, 401)

TABLE = {
    ("GET", "/livez"): OPEN,
    ("GET", "/readyz"): OPEN,
    ("GET", "/version"): OPEN,
    ("GET", "/metrics"): OPEN,
    ("GET", "/openapi.json"): OPEN,
    ("GET", "/v1/identity"): OPEN,
    ("PUT", "/v1/keys/{key}"): OPERATORS,
    ("GET", "/v1/keys"): OPERATORS,
    ("GET", "/v1/keys/{key}"): OPEN,
    ("GET", "/v1/keys/{key}/epochs/{epoch}"): OPEN,
    ("PUT", "/v1/keys/{key}/epochs/{epoch}"): OPERATORS,
    ("DELETE", "/v1/keys/{key}/epochs/{epoch}"): OPERATORS,
    ("POST", "/v1/keys/{key}/enrolment-tokens"): OPERATORS_MAKES,
    ("GET", "/v1/keys/{key}/enrolment-tokens"): OPERATORS,
    ("DELETE", "/v1/keys/{key}/enrolment-tokens/{identifier}"): OPERATORS,
    ("POST", "/v1/keys/{key}/clients"): IN_THE_BODY,
    ("GET", "/v1/keys/{key}/clients"): OPERATORS,
    ("DELETE", "/v1/keys/{key}/clients/{client}"): OPERATORS,
    ("POST", "/v1/access-tokens"): IN_THE_BODY,
    ("POST", "/v1/keys/{key}/epochs/{epoch}/releases"): CLIENTS_MAKES,
    ("GET", "/v1/keys/{key}/newest-epoch/{nonce}"): CLIENTS,
    ("GET", "/v1/keys/{key}/clients/{client}/certificate"): ANOTHER_CLIENTS,
    ("GET", "/v1/audit"): OPERATORS,
}

RECORDED = {
    "a client": ["key-released"],
    "the key operator": ["epoch-destroyed", "token-minted", "token-revoked"],
}
"""What each of them did, by the audit log; the rest was there already."""


@dataclass(frozen=True)
class Scene:
    """A key with clients, the credentials of everybody, and bodies for those who need one."""

    credentials: dict[str, str | None]
    places: dict[str, str]
    bodies: dict[tuple[str, str], Message]


@pytest.fixture
async def scene(server, enrolled, clock) -> Scene:
    await server.api.create_key("other", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    member, revoked, foreign = await enrolled(), await enrolled(), await enrolled("other")
    expired = await member.access()
    clock.advance(TOKEN_SECONDS + 61)
    credentials = [
        None,
        RUN_OPERATOR,
        await member.access(AGGREGATOR),
        expired,
        await foreign.access(),
        await revoked.access(),
        await member.access(),
        OPERATOR,
    ]
    await server.api.revoke_client("demo", revoked.name, OPERATOR)
    tokens = (await server.api.tokens("demo", OPERATOR)).tokens
    (token,) = [token for token in tokens if not token.revoked]  # the other went with its client
    places = {"key": "demo", "epoch": "1", "identifier": token.id, "client": revoked.name}
    places["nonce"] = NONCE
    return Scene(dict(zip(WHO, credentials, strict=True)), places, bodies(member))


def bodies(member: Member) -> dict[tuple[str, str], Message]:
    fingerprint = member.server.authority.identity.fingerprint
    forged = member.enrolment(f"fpt1.a.{to_text(bytes(32))}.{fingerprint}")
    late = member.assertion(iat=0, exp=1)
    return {
        ("PUT", "/v1/keys/{key}"): KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)),
        ("POST", "/v1/keys/{key}/enrolment-tokens"): TokenRequest(),
        ("POST", "/v1/keys/{key}/clients"): forged,
        ("POST", "/v1/access-tokens"): AccessTokenRequest(
            assertion=late, audience=KEY_SERVER.audience
        ),
    }


@pytest.mark.parametrize("who", WHO)
async def test_every_route_opens_to_whom_it_must_and_to_nobody_else(server, scene, who):
    """Nobody but the operator changes anything; a release is recorded."""
    recorded = len((await server.api.audit(OPERATOR)).entries)
    column, found = WHO.index(who), {}
    for route in TABLE:
        method, path = route[0], route[1].format(**scene.places)
        answer = await server.send(method, path, scene.bodies.get(route), scene.credentials[who])
        found[route] = answer.status_code
        if answer.is_error:
            assert problem(answer).kind in {"unauthenticated", "forbidden"}
    assert found == {route: cells[column] for route, cells in TABLE.items()}
    entries = (await server.api.audit(OPERATOR)).entries[recorded:]
    assert [entry.event for entry in entries] == RECORDED.get(who, [])


async def test_the_table_covers_all_routes(server):
    assert routes_of(server.app.routes) == set(TABLE)


def routes_of(routes: Iterable[BaseRoute]) -> set[tuple[str, str]]:
    """Methods and paths, also of routers within."""
    found: set[tuple[str, str]] = set()
    for route in routes:
        if inner := getattr(route, "original_router", None):
            found |= routes_of(inner.routes)
        else:
            found |= {(method, route.path) for method in route.methods - {"HEAD"}}
    return found


async def test_nothing_is_read_of_a_body_before_the_credential_is_good(server):
    """But where the body is the credential."""
    places = {"key": "demo", "epoch": "2", "identifier": "a", "client": "b", "nonce": NONCE}
    for (method, path), cells in TABLE.items():
        body = Unread()
        given = {"Content-Type": "application/json", "Authorization": "Bearer an-invention"}
        answer = await server.http.request(
            method, path.format(**places), content=body, headers=given
        )
        assert body.is_read == (cells is IN_THE_BODY), f"{method} {path}"
        assert answer.status_code != 500
