"""The key server dies at every moment at which it has written something, or is about to."""

import pytest

from fedperm import services
from fedperm.database import Database, sqlite_url
from fedperm.errors import RefusedError
from fedperm.wire.digest import sha256_of
from fedperm.wire.key_server import (
    AccessTokenRequest,
    Enrolled,
    KeyRequest,
    MintedToken,
    TokenRequest,
)
from fedperm.wire.statements import SchemeSpec
from fedperm.wire.succession import followed
from fedperm_keyserver.vault import key_encryption_key
from tests.aggregator.bench import quick_folder
from tests.crash_points.mortal_keyserver import KEY, MortalKeyServer, Newcomer
from tests.crash_points.points import KEY_SERVER, KEY_SERVER_STEPS
from tests.crash_points.promises import Promises
from tests.crash_points.tally import Case
from tests.crash_points.trace import change_a_row
from tests.keyserver.server import KEK, KEY_BITS, OPERATOR

pytestmark = [pytest.mark.anyio, pytest.mark.system]

SMALL = KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS))


class Story:
    """What the operator and the clients do; what was answered is noted."""

    def __init__(self, server: MortalKeyServer) -> None:
        self.server = server
        self.promises = Promises()

    async def minted(self) -> MintedToken:
        return await self.server.api.mint_token(KEY, TokenRequest(), OPERATOR)

    async def enrolled(self) -> tuple[Newcomer, Enrolled]:
        newcomer, token = Newcomer(), await self.minted()
        return newcomer, await self.server.api.enrol(KEY, newcomer.enrolment(token.token))

    async def access(self, newcomer: Newcomer, name: str) -> str:
        fingerprint = (await self.server.api.identity()).fingerprint
        return await self.grant(newcomer.assertion(name, fingerprint))

    async def grant(self, assertion: str) -> str:
        wanted = AccessTokenRequest(assertion=assertion, audience=services.KEY_SERVER.audience)
        return (await self.server.api.access_token(wanted)).access_token

    async def check_once(self, kind: str, *, is_due: bool, **details: object) -> None:
        """Recorded once if it is due, and never twice."""
        times = await self.server.recorded(kind, **details)
        if times > 1:
            self.server.tally.double.append(f"{kind} {details}: {times} times")
        if is_due and times == 0:
            self.server.tally.lost.append(f"{kind} {details}")


@pytest.fixture(params=[True, False], ids=["with-retry", "without-retry"])
async def server(request, servers, tally):
    with quick_folder() as folder:
        server = MortalKeyServer(servers, folder, tally, retried=request.param)
        yield server
        await server.close()


async def test_everything_that_a_key_server_promises(server: MortalKeyServer):
    story = Story(server)
    await make_the_identity(story)
    await create_keys(story)
    elder = await story.enrolled()
    await rotate(story)
    await mint_and_revoke_tokens(story)
    await enrol(story)
    await use_assertions(story)
    await release_keys(story)
    await revoke_clients(story)
    await destroy_epochs(story, *elder)
    await change_the_key_encryption_key(story, *elder)
    await change_the_identity(story)
    await find_tampering(story)
    server.tally.lost += await story.promises.broken()
    assert server.tally.cases == {Case(point, server.retried) for point in KEY_SERVER}


async def make_the_identity(story: Story) -> None:
    """At its first start: nobody has asked for anything."""
    server = story.server
    await server.start_mortally([*KEY_SERVER_STEPS["tables"], *KEY_SERVER_STEPS["identity"]])
    identity = await server.api.identity()
    await story.check_once("identity-created", is_due=True)

    async def is_the_same() -> bool:
        return followed(identity.fingerprint, await server.api.identity()) != ()

    story.promises.add("the identity", is_the_same)


async def create_keys(story: Story) -> None:
    server = story.server
    await server.api.create_key(KEY, SMALL, OPERATOR)
    for number, moment in enumerate(KEY_SERVER_STEPS["key"]):
        name = f"key-{number}"
        answer = await server.die_of(
            moment, lambda name=name: server.api.create_key(name, SMALL, OPERATOR)
        )
        await story.check_once("key-created", is_due=answer is not None, key=name)

        async def is_there(name: str = name, answer: object = answer) -> bool:
            return await server.api.key(name) == answer

        if answer is not None:
            story.promises.add(f"the key {name}", is_there)


async def rotate(story: Story) -> None:
    server = story.server
    for moment in KEY_SERVER_STEPS["rotation"]:
        number = (await server.api.key(KEY)).latest_epoch + 1
        answer = await server.die_of(
            moment, lambda number=number: server.api.create_epoch(KEY, number, OPERATOR)
        )
        await story.check_once("key-rotated", is_due=answer is not None, key=KEY, epoch=number)

        async def is_there(number: int = number, answer: object = answer) -> bool:
            return await server.api.epoch(KEY, number) == answer

        if answer is not None:
            story.promises.add(f"epoch {number}", is_there)


async def mint_and_revoke_tokens(story: Story) -> None:
    server = story.server

    async def known(identifier: str, *, revoked: bool) -> bool:
        listed = (await server.api.tokens(KEY, OPERATOR)).tokens
        return any((one.id, one.revoked) == (identifier, revoked) for one in listed)

    for moment in KEY_SERVER_STEPS["mint"]:
        minted = await server.die_of(moment, story.minted)
        if minted is not None:
            name = minted.status.id
            story.promises.add(f"token {name}", lambda name=name: known(name, revoked=False))
    for moment in KEY_SERVER_STEPS["token"]:
        name = (await story.minted()).status.id
        answer = await server.die_of(
            moment, lambda name=name: server.api.revoke_token(KEY, name, OPERATOR)
        )
        await story.check_once("token-revoked", is_due=answer is not None, token=name)
        if answer is not None:
            story.promises.add(f"end of {name}", lambda name=name: known(name, revoked=True))


async def enrol(story: Story) -> None:
    """Then a second client comes with the same token. It is refused, or was the first."""
    server = story.server
    for first, second in zip(KEY_SERVER_STEPS["enrol"], KEY_SERVER_STEPS["refuse"], strict=True):
        token, newcomer = await story.minted(), Newcomer()
        message = newcomer.enrolment(token.token)
        answer = await server.die_of(first, lambda message=message: server.api.enrol(KEY, message))
        if answer is not None:
            assert await server.api.enrol(KEY, message) == answer
        await story.check_once("client-enrolled", is_due=answer is not None, token=token.status.id)
        await come_second(story, token, second)


async def come_second(story: Story, token: MintedToken, moment: str) -> None:
    server = story.server
    if not await server.recorded("client-enrolled", token=token.status.id):
        await server.api.enrol(KEY, Newcomer().enrolment(token.token))
    rival = Newcomer().enrolment(token.token)

    async def refused() -> int:
        with pytest.raises(RefusedError) as caught:
            await server.api.enrol(KEY, rival)
        return caught.value.status

    assert await server.die_of(moment, refused) in {409, None}
    assert await refused() == 409
    (status,) = [
        one for one in (await server.api.tokens(KEY, OPERATOR)).tokens if one.id == token.status.id
    ]
    await story.check_once("client-enrolled", is_due=True, token=status.id)
    assert status.used == 1


async def use_assertions(story: Story) -> None:
    server = story.server
    newcomer, enrolled = await story.enrolled()
    fingerprint = (await server.api.identity()).fingerprint
    for moment in KEY_SERVER_STEPS["assertion"]:
        assertion = newcomer.assertion(enrolled.client, fingerprint)
        granted: list[str] = []

        async def ask(assertion: str = assertion, granted: list[str] = granted) -> bool:
            """Whether this one was taken."""
            try:
                granted.append(await story.grant(assertion))
            except RefusedError as refusal:
                if refusal.status != 401:
                    raise
                return False
            return True

        await server.die_of(moment, ask)
        await ask()
        assert not await ask()
        if len(granted) > 1:
            server.tally.double.append(f"{moment}: an assertion was taken {len(granted)} times")
    assert await story.access(newcomer, enrolled.client)


async def release_keys(story: Story) -> None:
    server = story.server
    newcomer, enrolled = await story.enrolled()
    newest = (await server.api.key(KEY)).latest_epoch
    for moment in KEY_SERVER_STEPS["release"]:
        token = await story.access(newcomer, enrolled.client)
        answer = await server.die_of(
            moment, lambda token=token: server.api.release(KEY, newest, token)
        )
        if answer is not None:
            digest = sha256_of(answer.release.encode())
            if not await server.recorded("key-released", release_sha256=digest):
                server.tally.second_releases.append(f"{moment}: a key left without a record")


async def revoke_clients(story: Story) -> None:
    """Revoked with everything that belongs to it, or not at all."""
    server = story.server
    for moment in KEY_SERVER_STEPS["client"]:
        newcomer, enrolled = await story.enrolled()
        name = enrolled.client
        answer = await server.die_of(
            moment, lambda name=name: server.api.revoke_client(KEY, name, OPERATOR)
        )
        is_revoked = await server.recorded("client-revoked", client=name) == 1
        why = f"client {name} was revoked"
        for kind in ("token-revoked", "key-rotated"):
            assert await server.recorded(kind, why=why) == is_revoked
        await story.check_once("client-revoked", is_due=answer is not None, client=name)
        if is_revoked:
            with pytest.raises(RefusedError) as caught:
                await story.access(newcomer, name)
            assert caught.value.status == 403


async def destroy_epochs(story: Story, newcomer: Newcomer, enrolled: Enrolled) -> None:
    """Gone and recorded, or there and not."""
    server = story.server
    for number, moment in enumerate(KEY_SERVER_STEPS["destroy"], 1):
        answer = await server.die_of(
            moment, lambda number=number: server.api.destroy_epoch(KEY, number, OPERATOR)
        )
        await story.check_once("epoch-destroyed", is_due=answer is not None, epoch=number)
        is_gone = await server.recorded("epoch-destroyed", epoch=number) == 1
        assert await released(story, newcomer, enrolled, number) is not is_gone


async def released(story: Story, newcomer: Newcomer, enrolled: Enrolled, number: int) -> bool:
    """Or 410 Gone; nothing else will do."""
    token = await story.access(newcomer, enrolled.client)
    try:
        await story.server.api.release(KEY, number, token)
    except RefusedError as refusal:
        if refusal.status != 410:
            raise
        return False
    return True


async def change_the_key_encryption_key(
    story: Story, newcomer: Newcomer, enrolled: Enrolled
) -> None:
    """One key opens all that is there, the old one or the new one."""
    server, kek = story.server, KEK
    for number, moment in enumerate(KEY_SERVER_STEPS["rewrap"]):
        new = f"{number:064x}"
        if await server.die_beside(moment, "rewrap", new_kek=new):
            kek = new
        server.give_key_encryption_key(kek)
        await server.start()
        identifier = key_encryption_key(new).identifier
        await story.check_once("secrets-rewrapped", is_due=kek == new, wrapped_by=identifier)
        for epoch in range(1, (await server.api.key(KEY)).latest_epoch + 1):
            await released(story, newcomer, enrolled, epoch)  # not 503


async def change_the_identity(story: Story) -> None:
    """What was known in the beginning leads to the newest in the end."""
    server, retired = story.server, 0
    for moment in KEY_SERVER_STEPS["succeed"]:
        before = await server.api.identity()
        is_done = await server.die_beside(moment, "succeed")
        await server.start()
        after = await server.api.identity()
        assert followed(before.fingerprint, after)
        assert (before != after) is is_done
    for moment in KEY_SERVER_STEPS["retire"]:
        retired += await server.die_beside(moment, "retire", str(retired + 1))
        await server.start()
        assert await server.recorded("identity-retired") == retired


async def find_tampering(story: Story) -> None:
    """The row is refused, whether there is a record of it or not yet."""
    server = story.server
    database = Database(sqlite_url(server.state / "keyserver.db"))
    for moment in KEY_SERVER_STEPS["tampering"]:
        newcomer, enrolled = await story.enrolled()
        change_a_row(database, enrolled.client, 1.5)

        async def refused(newcomer: Newcomer = newcomer, name: str = enrolled.client) -> int:
            with pytest.raises(RefusedError) as caught:
                await story.access(newcomer, name)
            return caught.value.status

        assert await server.die_of(moment, refused) in {409, None}
        assert await refused() == 409
        assert await server.recorded("tampering-found", row=f"{KEY}/{enrolled.client}")
    database.close()
