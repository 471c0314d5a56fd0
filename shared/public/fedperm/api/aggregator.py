"""The aggregator's REST interface as methods."""

from collections.abc import AsyncIterator

from pydantic import ValidationError

from fedperm.api.answers import LARGEST_BODY
from fedperm.api.connection import Connection, Request
from fedperm.api.health import ServerVersion, version_of
from fedperm.errors import UnreachableError, UntrustedError
from fedperm.ids import ClientName, EpochNumber, RoundNumber, RunName
from fedperm.run_document import DOCUMENT_SIGNATURE, LONGEST_DOCUMENT, FrozenDocument
from fedperm.submissions import SubmissionKind
from fedperm.wire.aggregator import (
    MANIFEST,
    CheckpointOffer,
    CheckpointReceipt,
    ClientReport,
    Heartbeat,
    KeyEpoch,
    KeyEpochs,
    ParticipantList,
    ParticipantStatus,
    Participation,
    RoundList,
    RoundOutcome,
    RoundReport,
    RunList,
    RunStatus,
    SignedCheckpoint,
    SubmissionReceipt,
    SubmissionReport,
    Task,
)
from fedperm.wire.body import MEDIA_TYPE as SAFETENSORS
from fedperm.wire.digest import CONTENT_DIGEST, content_digest, sha256_of
from fedperm.wire.events import Event

_UPLOAD_SECONDS = 3600.0
_MARGIN_SECONDS = 30.0
"""Longer than a long poll was asked to take."""


class AggregatorApi:
    """`token` is the run operator's, or a client's access token where a client is named."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def version(self) -> ServerVersion:
        return await version_of(self._connection)

    # runs: the operator's

    async def create_run(self, document: FrozenDocument, token: str) -> RunStatus:
        request = Request(
            "PUT",
            f"/v1/runs/{document.content.run}",
            token,
            body=document.octets,
            headers=(("Content-Type", "application/json"), *_signature(document)),
        )
        return await self._connection.ask(request, RunStatus)

    async def put_initial_model(self, run: RunName, body: bytes, token: str) -> RunStatus:
        request = Request(
            "PUT",
            f"/v1/runs/{run}/initial-model",
            token,
            body=body,
            headers=_bulk_headers(body),
            timeout_seconds=_UPLOAD_SECONDS,
        )
        return await self._connection.ask(request, RunStatus)

    async def put_key_epoch(
        self, run: RunName, epoch: EpochNumber, record: KeyEpoch, token: str
    ) -> RunStatus:
        request = Request("PUT", f"/v1/runs/{run}/key-epochs/{epoch}", token, record)
        return await self._connection.ask(request, RunStatus)

    async def runs(self, token: str) -> RunList:
        return await self._connection.ask(Request("GET", "/v1/runs", token), RunList)

    async def run(self, run: RunName, token: str) -> RunStatus:
        return await self._connection.ask(Request("GET", f"/v1/runs/{run}", token), RunStatus)

    async def stop(self, run: RunName, token: str) -> RunStatus:
        return await self._connection.ask(Request("POST", f"/v1/runs/{run}/stop", token), RunStatus)

    async def resume(self, run: RunName, token: str) -> RunStatus:
        return await self._connection.ask(
            Request("POST", f"/v1/runs/{run}/resume", token), RunStatus
        )

    async def participants(self, run: RunName, token: str) -> ParticipantList:
        request = Request("GET", f"/v1/runs/{run}/participants", token)
        return await self._connection.ask(request, ParticipantList)

    async def exclude(self, run: RunName, client: ClientName, token: str) -> ParticipantStatus:
        request = Request("DELETE", f"/v1/runs/{run}/participants/{client}", token)
        return await self._connection.ask(request, ParticipantStatus)

    async def rounds(self, run: RunName, token: str) -> RoundList:
        return await self._connection.ask(
            Request("GET", f"/v1/runs/{run}/rounds", token), RoundList
        )

    async def round_report(self, run: RunName, number: RoundNumber, token: str) -> RoundReport:
        request = Request("GET", f"/v1/runs/{run}/rounds/{number}/report", token)
        return await self._connection.ask(request, RoundReport)

    async def events(self, run: RunName, token: str, after: int = 0) -> AsyncIterator[Event]:
        """As they happen, from the one after `after` on; ends when the connection does."""
        request = Request(
            "GET", f"/v1/runs/{run}/events", token, headers=(("Last-Event-ID", str(after)),)
        )
        async for line in self._connection.lines(request):
            if line.startswith("data:"):
                yield _event(line.removeprefix("data:"))

    # what operators and participants read

    async def document(self, run: RunName, token: str) -> FrozenDocument:
        """As its operator signed it; the aggregator cannot put another in its place."""
        path = f"/v1/runs/{run}/document"
        response = await self._connection.send(
            Request("GET", path, token, most_octets=LONGEST_DOCUMENT)
        )
        frozen = FrozenDocument(response.content, response.headers.get(DOCUMENT_SIGNATURE, ""))
        frozen.check_signature()
        return frozen

    async def initial_model(
        self, run: RunName, token: str, most_octets: int = LARGEST_BODY
    ) -> bytes:
        request = Request(
            "GET",
            f"/v1/runs/{run}/initial-model",
            token,
            timeout_seconds=_UPLOAD_SECONDS,
            most_octets=most_octets,
        )
        return (await self._connection.send(request)).content

    async def key_epochs(self, run: RunName, token: str) -> KeyEpochs:
        return await self._connection.ask(
            Request("GET", f"/v1/runs/{run}/key-epochs", token), KeyEpochs
        )

    async def outcome(self, run: RunName, number: RoundNumber, token: str) -> RoundOutcome:
        request = Request("GET", f"/v1/runs/{run}/rounds/{number}", token)
        return await self._connection.ask(request, RoundOutcome)

    async def aggregate(
        self, run: RunName, number: RoundNumber, token: str, most_octets: int = LARGEST_BODY
    ) -> bytes:
        request = Request(
            "GET",
            f"/v1/runs/{run}/rounds/{number}/aggregate",
            token,
            timeout_seconds=_UPLOAD_SECONDS,
            most_octets=most_octets,
        )
        response = await self._connection.send(request)
        if response.status_code != 200:
            raise UnreachableError(f"round {number} has no aggregate yet", "ask again later")
        return response.content

    async def checkpoint(self, run: RunName, token: str) -> CheckpointOffer:
        """The newest on offer; 404 if there is none."""
        request = Request("GET", f"/v1/runs/{run}/checkpoint", token)
        return await self._connection.ask(request, CheckpointOffer)

    async def sealed_checkpoint(
        self, run: RunName, sha256: str, token: str, most_octets: int = LARGEST_BODY
    ) -> bytes:
        request = Request(
            "GET",
            f"/v1/runs/{run}/checkpoint/{sha256}",
            token,
            timeout_seconds=_UPLOAD_SECONDS,
            most_octets=most_octets,
        )
        return (await self._connection.send(request)).content

    # a client's own

    async def join(
        self, run: RunName, client: ClientName, participation: Participation, token: str
    ) -> ParticipantStatus:
        request = Request("PUT", f"/v1/runs/{run}/participants/{client}", token, participation)
        return await self._connection.ask(request, ParticipantStatus)

    async def beat(
        self, run: RunName, client: ClientName, heartbeat: Heartbeat, token: str
    ) -> ParticipantStatus:
        path = f"/v1/runs/{run}/participants/{client}/heartbeat"
        return await self._connection.ask(Request("PUT", path, token, heartbeat), ParticipantStatus)

    async def next_task(
        self,
        run: RunName,
        client: ClientName,
        settled: RoundNumber,
        wait_seconds: float,
        token: str,
    ) -> Task:
        """Waits until there is something to do; `settled` is the last round dealt with."""
        request = Request(
            "GET",
            f"/v1/runs/{run}/participants/{client}/task",
            token,
            parameters=(("settled", str(settled)), ("wait_seconds", str(wait_seconds))),
            timeout_seconds=wait_seconds + _MARGIN_SECONDS,
        )
        return await self._connection.ask(request, Task)

    async def submit(
        self,
        kind: SubmissionKind,
        run: RunName,
        number: RoundNumber,
        client: ClientName,
        body: bytes,
        manifest: str,
        token: str,
    ) -> SubmissionReceipt:
        request = Request(
            "PUT",
            f"/v1/runs/{run}/rounds/{number}/{kind.path}/{client}",
            token,
            body=body,
            headers=(*_bulk_headers(body), (MANIFEST, manifest)),
            timeout_seconds=_UPLOAD_SECONDS,
        )
        return await self._connection.ask(request, SubmissionReceipt)

    async def submission(
        self,
        kind: SubmissionKind,
        run: RunName,
        number: RoundNumber,
        client: ClientName,
        token: str,
    ) -> SubmissionReport:
        """What became of it."""
        request = Request("GET", f"/v1/runs/{run}/rounds/{number}/{kind.path}/{client}", token)
        return await self._connection.ask(request, SubmissionReport)

    async def decline(
        self, run: RunName, number: RoundNumber, client: ClientName, newer: KeyEpoch, token: str
    ) -> None:
        """Nothing is sent for a round under an older epoch than this."""
        path = f"/v1/runs/{run}/rounds/{number}/declines/{client}"
        await self._connection.send(Request("PUT", path, token, newer))

    async def sign_checkpoint(
        self,
        run: RunName,
        number: RoundNumber,
        client: ClientName,
        signed: SignedCheckpoint,
        token: str,
    ) -> CheckpointReceipt:
        path = f"/v1/runs/{run}/rounds/{number}/checkpoints/{client}"
        return await self._connection.ask(Request("PUT", path, token, signed), CheckpointReceipt)

    async def send_checkpoint(
        self, run: RunName, number: RoundNumber, client: ClientName, body: bytes, token: str
    ) -> None:
        """The octets, if the aggregator wants them."""
        request = Request(
            "PUT",
            f"/v1/runs/{run}/rounds/{number}/sealed-checkpoints/{client}",
            token,
            body=body,
            headers=_bulk_headers(body),
            timeout_seconds=_UPLOAD_SECONDS,
        )
        await self._connection.send(request)

    async def report(
        self,
        run: RunName,
        number: RoundNumber,
        client: ClientName,
        report: ClientReport,
        token: str,
    ) -> None:
        path = f"/v1/runs/{run}/rounds/{number}/reports/{client}"
        await self._connection.send(Request("PUT", path, token, report))


def _event(text: str) -> Event:
    try:
        return Event.model_validate_json(text)
    except ValidationError:
        raise UntrustedError(
            "the aggregator sent an event that is none", "check both versions"
        ) from None


def _signature(document: FrozenDocument) -> tuple[tuple[str, str], ...]:
    return ((DOCUMENT_SIGNATURE, document.signature),) if document.signature else ()


def _bulk_headers(body: bytes) -> tuple[tuple[str, str], ...]:
    return (
        ("Content-Type", SAFETENSORS),
        (CONTENT_DIGEST, content_digest(sha256_of(body))),
    )
