"""Participants: joining, heartbeats, exclusion."""

import asyncio

from fedperm.clock import Clock
from fedperm.errors import ConflictError, ForbiddenError
from fedperm.ids import ClientName, RunName
from fedperm.protocol import PROTOCOL
from fedperm.wire.aggregator import Heartbeat, ParticipantStatus, Participation
from fedperm_aggregator.authorization import Participant
from fedperm_aggregator.presence import Presence, Seen
from fedperm_aggregator.records import Joined
from fedperm_aggregator.run_documents import RunDocuments
from fedperm_aggregator.stores import Stores


class Participants:
    def __init__(
        self, stores: Stores, documents: RunDocuments, presence: Presence, clock: Clock
    ) -> None:
        self._store = stores.participants
        self._documents = documents
        self._presence = presence
        self._clock = clock

    def join(
        self, run: RunName, who: Participant, participation: Participation
    ) -> tuple[ParticipantStatus, bool]:
        """The participant, and whether it is new."""
        if participation.protocol != PROTOCOL:
            raise ConflictError(
                f"{who.client} speaks {participation.protocol}, this aggregator {PROTOCOL}",
                "upgrade the older of the two",
            )
        if participation.document != self._documents.of(run).sha256:
            raise ConflictError(
                f"run {run} has another document than the one you read", "read it again"
            )
        now = self._clock.now()
        joined, is_new = self._store.join(run, who.client, who.signing_key, now)
        self._presence.heard(run, who.client, now)
        return self._status(run, joined), is_new

    async def beat(self, run: RunName, who: Participant, heartbeat: Heartbeat) -> ParticipantStatus:
        joined = await self.admitted(run, who)
        seen = Seen(self._clock.now(), heartbeat.phase, heartbeat.round)
        self._presence.beat(run, who.client, seen)
        return self._status(run, joined)

    def exclude(self, run: RunName, client: ClientName) -> ParticipantStatus:
        return self._status(run, self._store.exclude(run, client, self._clock.now()))

    def all(self, run: RunName) -> tuple[ParticipantStatus, ...]:
        return tuple(self._status(run, joined) for joined in self._store.of_run(run))

    async def admitted(self, run: RunName, who: Participant) -> Joined:
        """Checked; for the event loop, without the database if the client was here before."""
        remembered = self._store.remembered(run, who.client)
        if remembered is None:
            return await asyncio.to_thread(self.check, run, who)
        return _the_same(remembered, run, who)

    def check(self, run: RunName, who: Participant) -> Joined:
        """Has joined, and is the one who joined."""
        return _the_same(self._store.find(run, who.client), run, who)

    def _status(self, run: RunName, joined: Joined) -> ParticipantStatus:
        now = self._clock.now()
        seen = self._presence.last(run, joined.client) or Seen(joined.joined_at)
        return ParticipantStatus(
            client=joined.client,
            joined_at=joined.joined_at,
            last_seen_at=seen.at,
            online=self._presence.is_online(run, joined.client, now),
            phase=seen.phase,
            round=seen.round,
            excluded=joined.excluded,
        )


def _the_same(joined: Joined, run: RunName, who: Participant) -> Joined:
    if joined.signing_key != who.signing_key:
        raise ForbiddenError(
            f"{who.client} joined run {run} with another signing key",
            "use the identity that joined the run",
        )
    return joined
