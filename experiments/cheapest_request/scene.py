"""Two servers, a client that both know, and the shots of everybody."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from experiments.cheapest_request.sender import Address
from experiments.cheapest_request.shots import Shot, enrolled_shots, outsider_shots
from experiments.rush.rush import open_doors
from experiments.rush.scene import RUN, Scene, make_scene
from experiments.rush.setting import Setting
from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Patience
from fedperm.api.key_server import KeyServerApi
from fedperm.clock import Clock
from fedperm.ids import KeyName
from fedperm.protocol import PROTOCOL
from fedperm.services import AGGREGATOR, KEY_SERVER, ServiceSpec
from fedperm.wire.aggregator import Participation
from fedperm.wire.enrolment_token import parse_token
from fedperm.wire.key_server import AccessTokenRequest, KeyRequest, TokenRequest
from fedperm.wire.signed import sign
from fedperm.wire.statements import ClientAssertion, SchemeSpec
from fedperm_cli.federation.folder import FederationFolder, make_folder
from fedperm_cli.federation.launcher import Launcher
from fedperm_cli.federation.processes import Processes, RunningServer
from fedperm_cli.servers.sessions import Server
from fedperm_client.identity import ClientIdentity, ClientKeys, enrol

KEY = KeyName("demo")
LIFTED = 1_000_000
_PATIENCE = Patience(10.0)
_UNLIMITED: dict[ServiceSpec, dict[str, object]] = {
    KEY_SERVER: {
        f"{what}_{rate}": LIFTED
        for what, rate in (
            ("enrolment", "burst"),
            ("enrolment", "per_second"),
            ("access", "burst"),
            ("access", "per_second"),
            ("grant", "burst"),
            ("grants", "per_second"),
            ("call", "burst"),
            ("calls", "per_second"),
            ("release", "burst"),
            ("releases", "per_second"),
        )
    },
    AGGREGATOR: {"call_burst": LIFTED, "calls_per_second": LIFTED},
}


@dataclass(frozen=True)
class Stage:
    """Servers by name, and everything that is sent to them."""

    servers: dict[str, RunningServer]
    shots: tuple[Shot, ...]

    def address(self, server: str) -> Address:
        parts = urlsplit(self.servers[server].address)
        return parts.hostname or "", parts.port or 0


@contextmanager
def servers(folder: Path, *, unlimited: bool, **settings: object) -> Iterator[Launcher]:
    """`settings` are for both."""
    home = make_folder(folder)
    with Processes(home.logs) as processes:
        launcher = Launcher(home, processes, insecure_for_tests=True)
        for service in (KEY_SERVER, AGGREGATOR):
            lifted = _UNLIMITED[service] if unlimited else {}
            launcher.start_server(service, **lifted, **settings)
        launcher.wait_until_ready()
        yield launcher


async def set_stage(launcher: Launcher, key_bits: int, clock: Clock, randomness: Random) -> Stage:
    scene = make_scene(_quiet_run(key_bits), clock.now(), randomness)
    await _open_run(launcher, scene)
    identity, release_token = await _enrolled(launcher, key_bits, clock, randomness)
    stranger = ClientIdentity(
        ClientKeys(Ed25519PrivateKey.generate(), identity.keys.sealing), identity.enrolled
    )
    return Stage(
        {service.name: server for service, server in launcher.servers.items()},
        (
            *outsider_shots(_assertion(stranger, clock, randomness)),
            *enrolled_shots(
                scene.guests[0].token,
                release_token,
                lambda: _assertion(identity, clock, randomness),
            ),
        ),
    )


def _quiet_run(key_bits: int) -> Setting:
    """It waits for a second client that never comes."""
    return Setting(
        idle=1,
        uploads=1,
        rounds=1,
        seconds=800.0,
        parameters=100,
        k1=10,
        k2=1,
        value_bits=8,
        laplace_scale=0.0,
        key_bits=key_bits,
    )


async def _open_run(launcher: Launcher, scene: Scene) -> None:
    """The first guest joins."""
    address = launcher.servers[AGGREGATOR].address
    token = _operator_token(launcher.folder, AGGREGATOR)
    await open_doors(replace(scene, operator=token), address)
    async with Server(address, patience=_PATIENCE).connection() as connection:
        guest = scene.guests[0]
        joining = Participation(document=scene.document_sha256, protocol=PROTOCOL)
        await AggregatorApi(connection).join(RUN, guest.name, joining, guest.token)


async def _enrolled(
    launcher: Launcher, key_bits: int, clock: Clock, randomness: Random
) -> tuple[ClientIdentity, str]:
    """A client of the key server, and its token for releases."""
    operator = _operator_token(launcher.folder, KEY_SERVER)
    address = launcher.servers[KEY_SERVER].address
    async with Server(address, patience=_PATIENCE).connection() as connection:
        api = KeyServerApi(connection)
        wanted = KeyRequest(scheme=SchemeSpec.of_bits(key_bits))
        await api.create_key(KEY, wanted, operator)
        minted = await api.mint_token(KEY, TokenRequest(), operator)
        home = launcher.folder.path
        keys = ClientKeys.kept_at(home / "keys.json", randomness)
        identity = await enrol(home / "enrolment.json", keys, KEY, parse_token(minted.token), api)
        assertion = _assertion(identity, clock, randomness)
        asked = AccessTokenRequest(assertion=assertion, audience=KEY_SERVER.audience)
        return identity, (await api.access_token(asked)).access_token


def _assertion(identity: ClientIdentity, clock: Clock, randomness: Random) -> str:
    now = int(clock.now())
    assertion = ClientAssertion(
        iss=identity.name,
        aud=identity.key_server_fingerprint,
        key=identity.key,
        iat=now,
        exp=now + 300,
        jti=randomness.randbytes(16).hex(),
    )
    return sign(assertion, identity.keys.signing)


def _operator_token(folder: FederationFolder, service: ServiceSpec) -> str:
    return folder.operator_token(service).read_text().strip()
