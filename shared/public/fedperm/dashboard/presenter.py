"""What the page shows of a run, made from its document, its reports and what clients said last.

Privacy is told as far as the run's document tells it: the aggregator has no accountant. What a
client has spent of its budget is in the ledger that it reports.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from statistics import median_low

from fedperm.contributors import contributors_warning
from fedperm.dashboard.reading import ReadRound
from fedperm.dashboard.source import Fold
from fedperm.dashboard.views import (
    Client,
    Facts,
    Key,
    Ledgers,
    Privacy,
    Progress,
    RecordLevel,
    Round,
    Standing,
    Trouble,
)
from fedperm.errors import ParameterError
from fedperm.noise.law import sampler_epsilon
from fedperm.noise.table_sampler import ACCURATE_BITS
from fedperm.phase_seconds import phase_seconds
from fedperm.privacy.record_level import NoRecordBound, RecordRelease, record_level
from fedperm.privacy.release import local_training
from fedperm.run_document import FrozenDocument, RunDocument
from fedperm.wire.aggregator import (
    NamedReport,
    ParticipantStatus,
    RoundReport,
    RoundState,
    RunState,
    RunStatus,
    SubmissionState,
)
from fedperm.wire.statements import EpochRecord


def facts(frozen: FrozenDocument) -> Facts:
    document = frozen.content
    plan, bound, rounds = document.plan, document.norm_bound, document.rounds
    costs = plan.layout.costs(workers=1)
    return Facts(
        run=document.run,
        document=frozen.sha256,
        task=document.task.name,
        parameters=document.model.parameters,
        k1=document.shuffle.k1,
        k2=document.shuffle.k2,
        windows=plan.geometry.windows,
        value_bits=document.value_bits,
        clip=document.noise.clip,
        norm_limit=None if bound is None else bound.limit,
        norm_form="" if bound is None else bound.form.value,
        rounds=rounds.count,
        clients_per_round=rounds.clients_per_round,
        min_contributors=rounds.min_contributors,
        contributors_warning=contributors_warning(rounds.min_contributors),
        deadline_seconds=rounds.deadline_seconds,
        key_bits=document.scheme.key_bits,
        mask_ciphertexts=costs.ciphertexts,
        aggregate_ciphertexts=costs.sums,
        insecure_for_tests=document.insecure_for_tests,
    )


def key_view(record: EpochRecord, signing_key: str) -> Key:
    return Key(
        scheme=record.scheme.name,
        name=record.key,
        bits=record.scheme.scheme(insecure_for_tests=True).key_bits,
        epoch=record.epoch,
        fingerprint=record.key_id,
        signing_key=signing_key,
    )


_OF_UPDATES = {
    SubmissionState.STORED: Standing.UPLOADED,
    SubmissionState.VALID: Standing.CHECKED,
    SubmissionState.REJECTED: Standing.REJECTED,
    SubmissionState.INCLUDED: Standing.INCLUDED,
    SubmissionState.DROPPED: Standing.DROPPED,
}


def client_view(who: ParticipantStatus, newest: RoundReport | None, now: float) -> Client:
    updates = () if newest is None else newest.updates
    reasons = [update.reason for update in updates if update.client == who.client]
    return Client(
        client=who.client,
        online=who.online,
        doing=who.phase,
        standing=standing(who, newest, now),
        reason=reasons[0] if reasons else "",
    )


def standing(who: ParticipantStatus, newest: RoundReport | None, now: float) -> Standing:
    if newest is not None:
        for update in newest.updates:
            if update.client == who.client:
                return _OF_UPDATES[update.state]
    if who.excluded:
        return Standing.EXCLUDED
    if newest is None or who.client not in newest.outcome.selected:
        return Standing.NOT_ASKED
    return _without_update(newest, now)


def _without_update(newest: RoundReport, now: float) -> Standing:
    """Of a client that was asked and has sent nothing."""
    if newest.outcome.state is not RoundState.OPEN:
        return Standing.MISSED
    is_late = newest.extensions > 0 or now > newest.deadline_at
    return Standing.LATE if is_late else Standing.AWAITED


def progress(status: RunStatus, newest: RoundReport | None, fold: Fold | None) -> Progress:
    if status.state.is_over or newest is None:
        return _of_run(status)
    if newest.collects:
        return _collecting(newest)
    match newest.outcome.state:
        case RoundState.SEALED:
            return _adding_up(newest, fold)
        case _ if status.state is RunState.RUNNING:
            return _settled(newest)
    return _of_run(status)


def _of_run(status: RunStatus) -> Progress:
    words = {
        RunState.WAITING: "Waiting",
        RunState.RUNNING: "About to open a round",
        RunState.STOPPED: "Stopped",
        RunState.COMPLETED: "Completed",
        RunState.FAILED: "The run failed",
    }[status.state]
    reason = f": {status.reason}" if status.reason else ""
    return Progress(name=status.state.value, words=words + reason, done=0, total=0)


def _collecting(newest: RoundReport) -> Progress:
    sent = [one for one in newest.submissions if one.kind == newest.collects]
    asked, received = len(newest.asked), len(sent)
    checked = sum(one.state is not SubmissionState.STORED for one in sent)
    words = f"Collecting {newest.collects}s: {received} of {asked} received, {checked} checked"
    return Progress(name="collecting", words=words, done=checked, total=asked)


def _adding_up(newest: RoundReport, fold: Fold | None) -> Progress:
    members = sum(update.state is SubmissionState.VALID for update in newest.updates)
    words = f"Adding up {members} encrypted updates"
    if fold is None or fold.round != newest.outcome.round:
        return Progress(name="adding up", words=words, done=0, total=0)
    if fold.phase == "rerandomise":
        words = "Re-randomising the encrypted sum"
    return Progress(name="adding up", words=words, done=fold.done, total=fold.total)


def _settled(newest: RoundReport) -> Progress:
    number = newest.outcome.round
    if newest.outcome.state is RoundState.ABORTED:
        words = f"Round {number} was aborted: {newest.outcome.reason}"
    else:
        words = f"Round {number} is published; clients decrypt it"
    return Progress(name=newest.outcome.state.value, words=words, done=1, total=1)


MOST_TROUBLES = 20
"""Of a round, on a page: when hundreds are missing, their names say little."""


def summarise(read: ReadRound) -> Round:
    report = read.report
    outcome, said = report.outcome, [named.report for named in report.reports]
    tests = [one.test for one in said if one.test is not None]
    accuracies = [test.accuracy for test in tests if test.accuracy is not None]
    return Round(
        number=outcome.round,
        state=outcome.state,
        reason=outcome.reason,
        epoch=outcome.epoch,
        selected=len(outcome.selected),
        received=len(report.updates),
        measured=sum(update.norm_before is not None for update in report.updates),
        included=len(outcome.included),
        rejected=sum(update.state is SubmissionState.REJECTED for update in report.updates),
        bounded=sum(update.bounded is True for update in report.updates),
        reports=len(said),
        in_clear=sum(one.in_clear for one in said),
        sealed=sum(one.sealed is not None and one.measured is None for one in said),
        broken=read.broken,
        accuracy=median_low(accuracies) if accuracies else None,
        accuracy_low=min(accuracies, default=None),
        accuracy_high=max(accuracies, default=None),
        loss=median_low(test.loss for test in tests) if tests else None,
        seconds=phase_seconds(report),
        total_seconds=None if report.settled_at is None else report.settled_at - report.opened_at,
        bytes_up=sum(update.size for update in report.updates),
        bytes_down=sum(one.bytes_down for one in said),
        ledgers=_ledgers(report.reports),
        troubles=tuple(islice(_troubles(report), MOST_TROUBLES)),
    )


def _ledgers(reports: Sequence[NamedReport]) -> Ledgers | None:
    kept = [(named.client, named.report.ledger) for named in reports]
    counted = [(client, ledger) for client, ledger in kept if ledger is not None]
    if not counted:
        return None
    client, ledger = max(
        counted, key=lambda one: one[1].epsilon / one[1].budget if one[1].budget else 0.0
    )
    return Ledgers(clients=len(counted), client=client, **ledger.model_dump())


def _troubles(report: RoundReport) -> Iterator[Trouble]:
    """First those left out for a reason of their own, then those of whom nothing came before the
    round was sealed."""
    left_out = {
        SubmissionState.REJECTED: Standing.REJECTED,
        SubmissionState.DROPPED: Standing.DROPPED,
    }
    for update in report.updates:
        if update.reason and update.state in left_out:
            standing = left_out[update.state]
            yield Trouble(client=update.client, standing=standing, reason=update.reason)
    if report.outcome.state is not RoundState.OPEN:
        came = {update.client for update in report.updates}
        for client in report.outcome.selected:
            if client not in came:
                yield Trouble(client=client, standing=Standing.MISSED, reason="")


_MOST_ETA = 2.0 ** (1 - ACCURATE_BITS)
"""The error of the sampler that clients draw with is smaller; to know it takes its whole table."""


def privacy_view(document: RunDocument, rounds_so_far: int) -> Privacy | None:
    """None without noise: nothing is promised then."""
    noise, geometry = document.noise, document.plan.geometry
    if noise.laplace_scale == 0:
        return None
    return Privacy(
        delta=noise.delta,
        laplace_scale=noise.laplace_scale,
        unit_parameters=geometry.patterns * geometry.superwindow,
        pure_per_round=geometry.padded_d / noise.laplace_scale + _sampler_epsilon(document, 1),
        record=_record(document, rounds_so_far),
    )


def _record(document: RunDocument, so_far: int) -> RecordLevel:
    training = local_training(document.training, document.noise.clip)
    if training.why_unbounded is not None:
        words = NoRecordBound(training.why_unbounded).words
        return RecordLevel(so_far=None, at_end=None, words=words)
    try:
        so_far_epsilon = _epsilon(document, so_far) if so_far else 0.0
        at_end = _epsilon(document, document.rounds.count)
    except ParameterError as error:
        return RecordLevel(so_far=None, at_end=None, words=f"no bound: {error.message}")
    words = f"replacing one of a client's {training.records:,} records, or more"
    return RecordLevel(so_far=so_far_epsilon, at_end=at_end, words=words)


def _epsilon(document: RunDocument, rounds: int) -> float | None:
    noise, extra = document.noise, _sampler_epsilon(document, rounds)
    release = RecordRelease(noise.laplace_scale, rounds, noise.grid, extra)
    level = record_level(local_training(document.training, noise.clip), release, noise.delta)
    return None if isinstance(level, NoRecordBound) else level.epsilon


def _sampler_epsilon(document: RunDocument, rounds: int) -> float:
    return sampler_epsilon(_MOST_ETA, document.plan.geometry.padded_d, rounds)
