"""All that an operator may know of a run, in one object."""

from fedperm.ids import RunName
from fedperm.wire.aggregator import ParticipantStatus, RoundReport, RunStatus
from fedperm.wire.message import Many, Message
from fedperm_cli.servers.sessions import RunOperator


class Overview(Message):
    """The JSON of `fedperm run show`."""

    status: RunStatus
    participants: Many[ParticipantStatus]
    rounds: Many[RoundReport]


async def read_overview(operator: RunOperator, run: RunName) -> Overview:
    api, token = operator.api, operator.token
    return Overview(
        status=await api.run(run, token),
        participants=(await api.participants(run, token)).participants,
        rounds=(await api.rounds(run, token)).rounds,
    )
