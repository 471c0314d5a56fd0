"""What rests, is logged or is told holds no secret, in no usual writing of it."""

import base64
import logging

import pytest

from fedperm.logs import JsonLines
from fedperm.services import KEY_SERVER
from fedperm.wire.key_server import AccessTokenRequest, TokenRequest
from fedperm_secret.access import SECRET_KEY_ACCESS
from tests.keyserver.member import Member
from tests.keyserver.server import KEK, OPERATOR

pytestmark = pytest.mark.anyio


def writings(secret: bytes) -> dict[str, bytes]:
    """Raw, hexadecimal, decimal, base64: either byte order, at any offset within a base64 text."""
    forms = {}
    for order, octets in (("big", secret), ("little", secret[::-1])):
        forms[f"raw {order}"] = octets
        forms[f"hexadecimal {order}"] = octets.hex().encode()
        forms[f"capital hexadecimal {order}"] = octets.hex().upper().encode()
        forms[f"decimal {order}"] = str(int.from_bytes(octets, "big")).encode()
        for offset in range(3):
            text = base64.b64encode(bytes(offset) + octets)
            core = text[4 if offset else 0 : len(text) - 4]
            forms[f"base64 {order} {offset}"] = core
            forms[f"base64url {order} {offset}"] = core.translate(bytes.maketrans(b"+/", b"-_"))
    return forms


def found(secrets: dict[str, bytes], data: bytes) -> list[str]:
    return [
        f"{name} in {form}"
        for name, secret in secrets.items()
        for form, octets in writings(secret).items()
        if octets in data
    ]


@pytest.mark.parametrize("form", writings(bytes(range(200, 232))))
def test_the_search_finds_a_secret_in_every_writing(form):
    """The assertions below can fail."""
    secret = bytes(range(200, 232))
    planted = b"before" + writings(secret)[form] + b"after"
    assert any(form in hit for hit in found({"it": secret}, planted))
    assert found({"it": secret}, b"nothing of it") == []


def test_the_search_finds_a_secret_within_a_longer_base64_text():
    secret = bytes(range(200, 232))
    for offset in range(5):
        text = base64.urlsafe_b64encode(b"x" * offset + secret + b"more")
        assert found({"it": secret}, text)


@pytest.fixture
def log_lines(caplog):
    """Everything at every level, as the product writes it."""
    caplog.set_level(logging.DEBUG)
    return lambda: "\n".join(map(JsonLines().format, caplog.records)).encode()


async def test_nothing_secret_is_stored_logged_or_told(server, clock, tmp_path, log_lines):
    secrets = await lead_a_full_life(server, clock)
    told = b"".join(
        [
            (await server.send("GET", path, token=OPERATOR)).content
            for path in (
                "/v1/audit",
                "/v1/keys",
                "/v1/keys/demo",
                "/v1/keys/demo/enrolment-tokens",
                "/v1/keys/demo/clients",
                "/v1/identity",
                "/metrics",
                "/openapi.json",
            )
        ]
    )
    stored = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(stored["keyserver.db"]) + len(stored["keyserver.db-wal"]) > 10_000
    for place, data in {**stored, "logs": log_lines(), "answers": told}.items():
        assert found(secrets, data) == [], place
    server.close()
    assert found(secrets, (tmp_path / "keyserver.db").read_bytes()) == []
    assert b"key released" in log_lines()


async def lead_a_full_life(server, clock) -> dict[str, bytes]:
    """Everything happens that touches a secret, refusals included; the secrets are answered."""
    minted = [
        (await server.api.mint_token("demo", TokenRequest(uses=uses), OPERATOR)).token
        for uses in (1, 3)
    ]
    members = [Member(server, clock) for _ in minted]
    for member, token in zip(members, minted, strict=True):
        await member.enrol(token)
    thief = Member(server, clock)
    await server.send("POST", "/v1/keys/demo/clients", thief.enrolment(minted[0]))
    await server.send("POST", "/v1/keys/demo/clients", thief.enrolment(minted[0][:-1]))
    wrong = AccessTokenRequest(assertion=members[0].assertion(exp=0), audience=KEY_SERVER.audience)
    await server.send("POST", "/v1/access-tokens", wrong)
    await server.api.revoke_client("demo", members[1].name, OPERATOR)
    keys = [await members[0].secret_key(epoch) for epoch in (1, 2)]
    factors = [int(prime) for key in keys for prime in key.factors(SECRET_KEY_ACCESS)]
    return {
        **{f"factor {i}": prime.to_bytes(32, "big") for i, prime in enumerate(factors)},
        **{f"token {i}": secret_of(token) for i, token in enumerate(minted)},
        "key-encryption key": bytes.fromhex(KEK),
        "signing key": server.authority.vault.signing_key.private_bytes_raw(),
        "operator's secret": OPERATOR.encode(),
    }


def secret_of(token: str) -> bytes:
    return base64.urlsafe_b64decode(token.split(".")[2] + "=")


async def test_secrets_are_not_shown_by_whoever_holds_them(server):
    signing = server.authority.vault.signing_key.private_bytes_raw()
    secrets = {"signing key": signing, "key-encryption key": bytes.fromhex(KEK)}
    for shown in (repr(server.authority), str(server.authority.vault), f"{server.authority!s}"):
        assert found(secrets, shown.encode()) == []
        assert repr(signing) not in shown
