"""Which token in a file is still of use."""

from dataclasses import replace

import pytest

from fedperm.wire.enrolment_token import EnrolmentToken
from fedperm.wire.key_server import Identity, TokenStatus
from fedperm_cli.deployment.pool_token import usable_token

NOW = 1000.0
HERE = Identity(signing_key="B" * 42 + "A", fingerprint="a" * 64)
TOKEN = EnrolmentToken("token-1", bytes(32), HERE.fingerprint)
STATUS = TokenStatus(
    id="token-1", uses=3, used=2, expires_at=NOW + 3600, revoked=False, client=None
)
OTHER = STATUS.model_copy(update={"id": "token-2"})


def test_a_token_with_uses_left_is_kept():
    assert usable_token(TOKEN, HERE, [OTHER, STATUS], NOW) == STATUS


@pytest.mark.parametrize(
    "changed",
    [
        {"used": 3},
        {"expires_at": NOW},
        {"expires_at": NOW + 599},
        {"revoked": True},
        {"id": "token-3"},
    ],
)
def test_a_token_that_enrols_nobody_any_more_is_not(changed):
    status = STATUS.model_copy(update=changed)
    assert usable_token(TOKEN, HERE, [OTHER, status], NOW) is None


def test_a_token_of_another_key_server_is_not():
    stranger = replace(TOKEN, fingerprint="b" * 64)
    assert usable_token(stranger, HERE, [STATUS], NOW) is None


def test_no_token_is_not():
    assert usable_token(None, HERE, [STATUS], NOW) is None
