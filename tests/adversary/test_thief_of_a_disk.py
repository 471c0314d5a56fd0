"""A copy of one party's disk, or of its backup."""

import shutil
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from safetensors.numpy import load

from fedperm.errors import RefusedError, SealedError, UntrustedError
from fedperm.randomness import from_operating_system
from fedperm.wire.key_server import Identity
from fedperm.wire.public_keys import fingerprint, text_of
from fedperm.wire.signed import sign
from fedperm.wire.statements import IdentitySuccession
from fedperm.wire.succession import followed
from fedperm_client.identity import ClientKeys
from fedperm_client.state_directory import StateDirectory
from fedperm_keyserver.root_keys import RootKeys
from fedperm_keyserver.stores.keys import KeyStore
from fedperm_keyserver.vault import key_encryption_key
from fedperm_secret.access import SECRET_KEY_ACCESS
from tests.adversary.ciphertexts import masks_in, tells_apart
from tests.adversary.conftest import Enrol
from tests.aggregator.bench import Bench, quick_folder
from tests.aggregator.parties import Client
from tests.aggregator.test_scrubbing import traces
from tests.client.documents import rounds
from tests.client.federation import KEY, Federation, drive
from tests.keyserver.member import Member
from tests.keyserver.refusals import refusal
from tests.keyserver.server import KEK, OPERATOR, OTHER_KEK, MovingClock, Server
from tests.keyserver.test_destruction import files_with
from tests.leaks import needles
from tests.leaks.scanner import Scanner
from tests.leaks.secrets_of_a_run import of_secret_key

pytestmark = pytest.mark.anyio


async def copied(server: Server, enrolled: Enrol, to: Path) -> Member:
    """The key server's disk, while it runs; a member of it knows the secret key."""
    member = await enrolled()
    await member.secret_key(1)
    shutil.copytree(Path(server.database.engine.url.database).parent, to)
    return member


async def test_blocked_reading_secret_keys_from_the_key_servers_disk(
    key_server: Server, enrolled: Enrol, tmp_path: Path
):
    member = await copied(key_server, enrolled, tmp_path / "stolen")
    secrets = [
        *of_secret_key(await member.secret_key(1), "the key"),
        *needles.octets("key-encryption key", bytes.fromhex(KEK)),
        *needles.octets("signing key", key_server.authority.vault.signing_key.private_bytes_raw()),
    ]
    scanner = Scanner(secrets)
    assert scanner.folder(tmp_path / "stolen").hits == set()
    assert scanner.database(tmp_path / "stolen" / "keyserver.db").hits == set()


@pytest.mark.parametrize("kek", [None, OTHER_KEK], ids=["none", "another"])
async def test_blocked_starting_a_stolen_key_server(
    key_server: Server, enrolled: Enrol, tmp_path: Path, kek: str | None
):
    """Without its key-encryption key it signs and releases nothing."""
    member = await copied(key_server, enrolled, tmp_path / "stolen")
    thief = Server(tmp_path / "stolen", MovingClock(), kek=kek)
    token = await member.access()
    await refusal(503, "sealed", thief.api.release("demo", 1, token))
    thief.close()


async def test_not_covered_starting_a_stolen_key_server_with_its_key_encryption_key(
    key_server: Server, enrolled: Enrol, tmp_path: Path
):
    """Database and key-encryption key together are all secret keys."""
    member = await copied(key_server, enrolled, tmp_path / "stolen")
    thief = Server(tmp_path / "stolen", MovingClock(), kek=KEK)
    member.server = thief
    stolen = await member.secret_key(1)
    assert stolen.public_key.key_id == (await key_server.api.key("demo")).key_id
    thief.close()


def changed_root_keys(server: Server) -> RootKeys:
    return RootKeys(server.beside(), MovingClock(), from_operating_system())


async def test_blocked_opening_a_later_disk_with_the_old_key_encryption_key(
    key_server: Server, tmp_path: Path
):
    """It leaked, and was changed: what is on the disk since is not under it, free pages and the
    write-ahead log included."""
    wrapped = KeyStore(key_server.database).epoch("demo", 1).wrapped
    old, new = key_encryption_key(KEK), key_encryption_key(OTHER_KEK)
    changed_root_keys(key_server).rewrap(old, new)
    shutil.copytree(Path(key_server.database.engine.url.database).parent, tmp_path / "stolen")
    thief = Server(tmp_path / "stolen", MovingClock(), kek=KEK)
    with pytest.raises(SealedError):
        thief.authority.check_open()
    thief.close()
    assert files_with(thief, wrapped) == []


async def test_blocked_reading_a_destroyed_key_from_the_key_servers_disk(
    key_server: Server, enrolled: Enrol, tmp_path: Path
):
    """Even with the key-encryption key."""
    await key_server.api.create_epoch("demo", 2, OPERATOR)
    wrapped = KeyStore(key_server.database).epoch("demo", 1).wrapped
    await key_server.api.destroy_epoch("demo", 1, OPERATOR)
    member = await enrolled()
    shutil.copytree(Path(key_server.database.engine.url.database).parent, tmp_path / "stolen")
    member.server = Server(tmp_path / "stolen", MovingClock(), kek=KEK)
    await refusal(410, "gone", member.secret_key(1))
    member.server.close()
    assert files_with(member.server, wrapped) == []


async def test_not_covered_reading_a_destroyed_key_from_a_backup(
    key_server: Server, enrolled: Enrol, tmp_path: Path
):
    """A copy from before has it, and who has the key-encryption key too opens it."""
    member = await copied(key_server, enrolled, tmp_path / "backup")
    await key_server.api.create_epoch("demo", 2, OPERATOR)
    await key_server.api.destroy_epoch("demo", 1, OPERATOR)
    member.server = Server(tmp_path / "backup", MovingClock(), kek=KEK)
    assert (await member.secret_key(1)).public_key
    member.server.close()


async def test_blocked_speaking_with_a_signing_key_that_the_key_server_gave_up(
    key_server: Server,
):
    """To those who have enrolled since: they follow a succession from the key that they know, and
    none leads back."""
    stolen = key_server.authority.vault.signing_key
    given_up = key_server.authority.identity
    changed_root_keys(key_server).succeed(key_encryption_key(KEK))
    later = Server(Path(key_server.database.engine.url.database).parent, MovingClock())
    known = later.authority.identity
    own = Ed25519PrivateKey.generate()
    link = IdentitySuccession(
        signing_key=given_up.signing_key, successor=text_of(own.public_key()), iat=0
    )
    for claimed in (given_up, forged_identity(own, sign(link, stolen), *known.succession)):
        with pytest.raises(UntrustedError, match="no succession leads"):
            followed(known.fingerprint, claimed)
    later.close()


async def test_not_covered_speaking_with_a_stolen_signing_key_to_those_who_know_it(
    key_server: Server,
):
    """A run that names it believes it, and a client that has pinned it follows it anywhere."""
    stolen, known = key_server.authority.vault.signing_key, key_server.authority.identity
    own = Ed25519PrivateKey.generate()
    link = IdentitySuccession(
        signing_key=known.signing_key, successor=text_of(own.public_key()), iat=0
    )
    claimed = forged_identity(own, sign(link, stolen))
    assert followed(known.fingerprint, claimed)[-1] == text_of(own.public_key())


def forged_identity(own: Ed25519PrivateKey, *succession: str) -> Identity:
    public = text_of(own.public_key())
    return Identity(signing_key=public, fingerprint=fingerprint(public), succession=succession)


async def test_blocked_reading_old_rounds_from_the_aggregators_disk(
    opened: Bench, clients: list[Client]
):
    """Uploads of settled rounds are destroyed, in files, database and journal."""
    await opened.contribute(1, *clients)
    assert traces(opened, 1) == [1] * 6
    await opened.aggregator.tick()
    assert traces(opened, 1) == [0] * 6


async def test_blocked_reading_an_open_round_from_the_aggregators_disk(
    opened: Bench, clients: list[Client]
):
    """There it lies: shuffled, and what would undo it is encrypted."""
    await opened.contribute(1, clients[0])
    (stolen,) = opened.aggregator.settings.state_directory.glob("runs/*/rounds/1/uploads/*")
    plan, key = opened.document.content.plan, opened.pair().public_key
    assert not tells_apart(masks_in(stolen.read_bytes(), plan, key), plan, key)


@pytest.fixture(scope="module")
async def robbed() -> AsyncIterator[Federation]:
    """Ada's and Ben's disks lie open; both have taken part in a round."""
    with quick_folder() as folder:
        federation = Federation(folder, MovingClock())
        await federation.start_lines(rounds=rounds(count=1))
        ada, ben = await federation.line_homes("ada", "ben")
        with ada.client() as one, ben.client() as two:
            await drive(federation, one, two)
        yield federation
        federation.close()


def thief_of(robbed: Federation, client: str) -> Member:
    """With the keys that are on the client's disk."""
    path = StateDirectory(robbed.folder / client).keys
    assert path.exists()
    keys = ClientKeys.kept_at(path, Random())
    thief = Member(robbed.key_server, robbed.clock, KEY)
    thief.name, thief.signing, thief.sealing = client, keys.signing, keys.sealing
    return thief


async def test_blocked_reading_a_paillier_key_from_a_clients_disk(robbed: Federation):
    """And nobody else on that machine reads its identity keys."""
    state = robbed.folder / "ada"
    secret_key = await thief_of(robbed, "ada").secret_key(1)
    assert Scanner(of_secret_key(secret_key, "the key")).folder(state).hits == set()
    assert stat.S_IMODE(StateDirectory(state).keys.stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700


async def test_not_covered_impersonating_a_client_with_its_disk(robbed: Federation):
    """Its identity keys are there: the key server releases to whoever has them."""
    thief = thief_of(robbed, "ada")
    p, q = (await thief.secret_key(1)).factors(SECRET_KEY_ACCESS)
    assert int((await thief.record(1)).public["n"], 16) == p * q


async def test_blocked_impersonating_a_revoked_client(robbed: Federation):
    thief = thief_of(robbed, "ben")
    await robbed.key_server.api.revoke_client(KEY, "ben", OPERATOR)
    for epoch in (1, 2):
        with pytest.raises(RefusedError):
            await thief.secret_key(epoch)


def test_not_covered_reading_the_model_from_a_clients_disk(robbed: Federation):
    """The decrypted model is in its state directory, for its owner to use."""
    tensors = load((robbed.folder / "ada/runs/demo/model.safetensors").read_bytes())
    assert all(np.abs(tensor).max() > 0 for tensor in tensors.values())
