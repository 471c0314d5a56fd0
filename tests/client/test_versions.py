"""Client and server of different protocols do not start: the error says whom to upgrade."""

import json
from collections.abc import Callable

import pytest

from fedperm.errors import UntrustedError
from fedperm.protocol import PROTOCOL
from fedperm_client.errors import VersionError
from tests.client.cut_line import request_of
from tests.client.documents import rounds
from tests.client.federation import drive

pytestmark = pytest.mark.anyio

VERSION = request_of("GET", "/version")
NUMBER = int(PROTOCOL.removeprefix("fedperm/"))
OLDER, NEWER = f"fedperm/{NUMBER - 1}", f"fedperm/{NUMBER + 1}"


def telling(**members: str) -> Callable[[bytes], bytes]:
    return lambda content: json.dumps({**json.loads(content), **members}).encode()


@pytest.mark.parametrize(
    ("protocol", "whom"),
    [
        (OLDER, "upgrade the key server"),
        (NEWER, "upgrade this client"),
        ("another/1", "install the same version of the key server and this client"),
    ],
)
async def test_a_key_server_of_another_protocol_gets_no_token(federation, protocol, whom):
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    ada.to_key_server.forgeries.append((VERSION, telling(protocol=protocol)))
    with ada.client() as one, pytest.raises(VersionError, match=protocol) as refusal:
        await one.step()
    assert refusal.value.hint == whom
    assert PROTOCOL in refusal.value.message
    assert len(ada.to_key_server.requests) == 1


async def test_the_key_server_of_the_last_release_is_told_by_its_protocol(federation):
    """It gave itself another name, which must not be taken for a wrong address."""
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    old = telling(service="fedperm-keyserver", protocol="fedperm/1")
    ada.to_key_server.forgeries.append((VERSION, old))
    with ada.client() as one, pytest.raises(VersionError, match="upgrade the key server"):
        await one.step()


@pytest.mark.parametrize(
    ("protocol", "whom"), [(OLDER, "upgrade the aggregator"), (NEWER, "upgrade this client")]
)
async def test_an_aggregator_of_another_protocol_is_not_joined(federation, protocol, whom):
    """As soon as it was upgraded, the client goes on by itself."""
    await federation.start_lines(rounds=rounds(count=1))
    ada, ben = await federation.line_homes("ada", "ben")
    ada.to_aggregator.forgeries.append((VERSION, telling(protocol=protocol)))
    with ada.client() as one, ben.client() as two:
        await one.step()
        with pytest.raises(VersionError, match=protocol) as refusal:
            await one.step()
        assert refusal.value.hint == whom
        assert len(ada.to_aggregator.requests) == 1
        ada.to_aggregator.forgeries.clear()
        await drive(federation, one, two)
    assert ada.summary.rounds == 1


async def test_a_server_that_tells_more_than_this_client_knows_is_understood(federation):
    await federation.start_lines(rounds=rounds(count=1))
    ada, ben = await federation.line_homes("ada", "ben")
    for line in (ada.to_key_server, ada.to_aggregator):
        line.forgeries.append((VERSION, telling(more="of a later release")))
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    assert ada.summary.rounds == 1


async def test_a_wrong_address_is_named_before_the_token_is_shown(federation):
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    ada.to_key_server = ada.to_aggregator
    wrong = r"should be the key server is the aggregator.*FEDPERM_CLIENT_KEYSERVER_URL"
    with ada.client() as one, pytest.raises(UntrustedError, match=wrong):
        await one.step()
    assert len(ada.to_aggregator.requests) == 1
