"""All that an operator may know of a run, in one object."""

from fedperm.contributors import contributors_warning
from fedperm.ids import RunName
from fedperm.wire.aggregator import ParticipantStatus, RoundReport, RunStatus
from fedperm.wire.message import Many, Message
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.operator.reports import ReportOpener
from fedperm_cli.servers.sessions import RunOperator


class Overview(Message):
    """The JSON of `fedperm run show`. `warnings` are those of its document. Of what was sealed
    `rounds` have what could be opened; `complaints` say what could not, although the operator's
    keys are there."""

    status: RunStatus
    warnings: Many[str]
    participants: Many[ParticipantStatus]
    rounds: Many[RoundReport]
    complaints: Many[str]


async def read_overview(
    operator: RunOperator, run: RunName, identity: OperatorIdentity | None
) -> Overview:
    api, token = operator.api, operator.token
    document = await api.document(run, token)
    opener = ReportOpener.of(document, identity)
    opened = [opener.open(report) for report in (await api.rounds(run, token)).rounds]
    warning = contributors_warning(document.content.rounds.min_contributors)
    return Overview(
        status=await api.run(run, token),
        warnings=() if warning is None else (warning,),
        participants=(await api.participants(run, token)).participants,
        rounds=tuple(one.report for one in opened),
        complaints=tuple(words for one in opened for words in one.complaints),
    )
