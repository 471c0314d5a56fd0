"""What somebody with a member's credentials tries, and what the protocol answers."""

import json

from fedperm.api.aggregator import AggregatorApi
from fedperm.errors import RefusedError, UnreachableError
from fedperm.services import AGGREGATOR
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import RoundState
from fedperm.wire.digest import sha256_of
from fedperm.wire.signed import sign
from fedperm.wire.statements import Manifest
from fedperm_client.session import Session
from tests.aggregator.parties import signed_digests
from tests.simulation.judge import Slot
from tests.simulation.lines import Line
from tests.simulation.lives import Killed, acting
from tests.simulation.members import Member, connection
from tests.simulation.world import World


class Attacks:
    """All of them from a line of their own: they are no releases of the member's. `which` of the
    places that the member sent something for is meant."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._judge = world.judge
        self._api = AggregatorApi(connection(Line(None, world.aggregator, world.tally)))

    async def replay(self, member: Member, which: int) -> None:
        slot = self._slot(member, which)
        if slot is not None:
            welcome = {200} if slot in self._judge.promised else {200, 410}
            body = self._judge.released[slot]
            await self._upload("replay", member, slot, slot, body, welcome)

    async def other_bytes(self, member: Member, which: int) -> None:
        """After the first ones only: a client never makes two."""
        slot = self._slot(member, which)
        if slot is not None and slot in self._judge.promised:
            body = _changed(self._judge.released[slot])
            await self._upload("other bytes", member, slot, slot, body, {409})

    async def wrong_epoch(self, member: Member, which: int) -> None:
        slot = self._slot(member, which)
        if slot is not None:
            body = _changed(self._judge.released[slot])
            await self._upload("another key epoch", member, slot, slot, body, {409}, ahead=1)

    async def wrong_slot(self, member: Member, which: int) -> None:
        """In another's place, with one's own credential."""
        slot = self._slot(member, which)
        if slot is not None:
            place = Slot(slot.round, "client-99")
            body = self._judge.released[slot]
            await self._upload("another's slot", member, slot, place, body, {403})

    async def stolen(self, member: Member, which: int) -> None:
        """In one's own place, what another has signed."""
        slot = self._slot(member, which)
        others = [other for other in self._judge.released if slot and other.client != slot.client]
        if slot is not None and others:
            other = others[which % len(others)]
            body = self._judge.released[other]
            await self._upload(
                "another's update", member, slot, slot, body, {422}, signed_for=other
            )

    async def early(self, member: Member, which: int) -> None:
        """For a round that was not opened."""
        slot = self._slot(member, which)
        if slot is not None:
            place = Slot(self._newest() + 1, slot.client)
            body = self._judge.released[slot]
            await self._upload("a round to come", member, slot, place, body, {404})

    async def poison(self, member: Member, which: int) -> None:
        """A member turns rogue: masks that are no ciphertexts, which are looked at after the
        acknowledgement, for a round that waits for its update."""
        model, session, number = self._slot(member, which), member.session, self._newest()
        if model is None or session is None or self._world.is_small:
            return
        slot = Slot(number, session.identity.name)
        outcome = self._world.aggregator.stores.reports.outcome("demo", number)
        is_asked = outcome.state is RoundState.OPEN and slot.client in outcome.selected
        if is_asked and slot not in self._judge.released:
            member.is_out = True
            body = _without_masks(self._judge.released[model])
            await self._upload("poison", member, slot, slot, body, {200})
            member.end()

    def _slot(self, member: Member, which: int) -> Slot | None:
        """One that the member has sent something for."""
        if member.session is None or not self._world.aggregator.is_up:
            return None
        name = member.session.identity.name
        slots = [slot for slot in self._judge.released if slot.client == name]
        return slots[-1 - which % len(slots)] if slots else None

    def _newest(self) -> int:
        return self._world.aggregator.stores.runs.status("demo").round

    async def _upload(
        self,
        attack: str,
        member: Member,
        known: Slot,
        place: Slot,
        body: bytes,
        expected: set[int],
        ahead: int = 0,
        signed_for: Slot | None = None,
    ) -> None:
        """`known` is a slot of a round that was opened: its epoch is taken, or one `ahead`. The
        manifest names the place, or another one."""
        assert member.session is not None
        epoch = self._world.aggregator.stores.reports.outcome("demo", known.round).epoch + ahead
        with acting(member.life):
            try:
                manifest = self._manifest(signed_for or place, epoch, body)
                status = await self._status(member.session, place, manifest, body)
            except Killed:
                member.end()
                return
        if status is None:
            return
        self._world.tally.faults[attack] += 1
        if status not in expected:
            self._judge.object("wrong answer", f"{attack} at {place}: {status}, not {expected}")

    def _manifest(self, slot: Slot, epoch: int, body: bytes) -> Manifest:
        assert self._judge.document is not None
        return Manifest(
            run="demo",
            document=self._judge.document.sha256,
            round=slot.round,
            epoch=epoch,
            client=slot.client,
            sha256=sha256_of(body),
            size=len(body),
            tensors=signed_digests(self._judge.document.content, body),
        )

    async def _status(
        self, session: Session, place: Slot, manifest: Manifest, body: bytes
    ) -> int | None:
        """The answer's, 200 for any receipt; None if a fault came in between."""
        signed = sign(manifest, session.identity.keys.signing)
        try:
            await session.access.using(
                AGGREGATOR,
                lambda token: self._api.submit(
                    UPDATE, "demo", place.round, place.client, body, signed, token
                ),
            )
        except UnreachableError:
            return None
        except RefusedError as refusal:
            is_fault = refusal.status in {401, 503, 507}  # the judge looks whether it is
            return None if is_fault else refusal.status
        return 200


def _without_masks(body: bytes) -> bytes:
    """All bits set, where numbers below n² belong."""
    data = 8 + int.from_bytes(body[:8], "little")
    start, end = (data + at for at in json.loads(body[8:data])["masks"]["data_offsets"])
    return body[:start] + b"\xff" * (end - start) + body[end:]


def _changed(body: bytes) -> bytes:
    """Another update of the right form: its last value is another one."""
    return body[:-1] + bytes([body[-1] ^ 1])
