"""The runs of an aggregator as the operator's page shows them, read from its interface."""

from collections.abc import Awaitable, Sequence
from typing import Self, TypeVar

from fedperm.dashboard.source import Changes
from fedperm.errors import BusyError, RefusedError, UnknownResourceError, UnreachableError
from fedperm.ids import EpochNumber, RoundNumber, RunName
from fedperm.run_document import FrozenDocument
from fedperm.run_notifier import RunNotifier
from fedperm.wire.aggregator import ParticipantStatus, RoundReport, RunStatus
from fedperm.wire.public_keys import signing_key
from fedperm.wire.signed import verify
from fedperm.wire.statements import EpochRecord
from fedperm_cli.dashboard.follower import Follower
from fedperm_cli.servers.sessions import RunOperator

Answer = TypeVar("Answer")

_FEW = 4
"""Reports that are asked for one by one; more come in one list of all rounds."""
_UNKNOWN = 404


class RemoteRuns:
    """A `RunSource`, within its block. Documents and key epochs never change, and are asked for
    once."""

    def __init__(self, operator: RunOperator, notifier: RunNotifier) -> None:
        self._api = operator.api
        self._token = operator.token
        self._operator = operator
        self._notifier = notifier
        self._documents: dict[RunName, FrozenDocument] = {}
        self._epochs: dict[tuple[RunName, EpochNumber], EpochRecord] = {}
        self._followers: dict[RunName, Follower] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for follower in self._followers.values():
            await follower.stop()

    async def runs(self) -> Sequence[RunStatus]:
        return (await _answered(self._api.runs(self._token))).runs

    async def document(self, run: RunName) -> FrozenDocument:
        if run not in self._documents:
            self._documents[run] = await _answered(self._api.document(run, self._token))
        return self._documents[run]

    async def status(self, run: RunName) -> RunStatus:
        return await _answered(self._api.run(run, self._token))

    async def participants(self, run: RunName) -> Sequence[ParticipantStatus]:
        return (await _answered(self._api.participants(run, self._token))).participants

    async def epoch(self, run: RunName, number: EpochNumber) -> EpochRecord:
        if (run, number) not in self._epochs:
            signer = signing_key((await self.document(run)).content.key.signing_key)
            for epoch in (await _answered(self._api.key_epochs(run, self._token))).epochs:
                record = verify(epoch.record, EpochRecord, signer)
                self._epochs[run, record.epoch] = record
        if (run, number) not in self._epochs:
            raise UnknownResourceError(f"run {run} has no key epoch {number}", "look again soon")
        return self._epochs[run, number]

    async def rounds(self, run: RunName, numbers: Sequence[RoundNumber]) -> Sequence[RoundReport]:
        if len(numbers) <= _FEW:
            return [
                await _answered(self._api.round_report(run, number, self._token))
                for number in numbers
            ]
        wanted = set(numbers)
        listed = (await _answered(self._api.rounds(run, self._token))).rounds
        return [report for report in listed if report.outcome.round in wanted]

    async def position(self, run: RunName) -> int:
        return (await self._follower(run)).position

    async def changes(self, run: RunName, after: int) -> Changes:
        return (await self._follower(run)).changes(after)

    async def _follower(self, run: RunName) -> Follower:
        await self.document(run)  # of a run that exists: names of others would pile up
        if run not in self._followers:
            self._followers[run] = Follower(
                self._operator, run, lambda: self._notifier.announce(run)
            )
        self._followers[run].listen()
        return self._followers[run]


async def _answered(asking: Awaitable[Answer]) -> Answer:
    """What the page can do something about: a run that is not there, or waiting."""
    try:
        return await asking
    except RefusedError as refusal:
        if refusal.status == _UNKNOWN:
            raise UnknownResourceError(refusal.message, refusal.hint) from None
        raise BusyError(f"the aggregator refuses: {refusal.message}", refusal.hint) from None
    except UnreachableError as error:
        raise BusyError(error.message, error.hint) from None
