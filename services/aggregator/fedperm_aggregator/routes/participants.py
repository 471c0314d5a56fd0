"""Participants: joining, heartbeats and the next task."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from fedperm.ids import NO_ROUND, RoundNumber
from fedperm.web.json_body import sent
from fedperm.wire.aggregator import (
    Heartbeat,
    ParticipantList,
    ParticipantStatus,
    Participation,
    Task,
)
from fedperm.wire.message import ClientField, RunField
from fedperm_aggregator.long_poll import Poll
from fedperm_aggregator.routes.access import Here, ThatClient, operator_of_run, that_client

router = APIRouter(prefix="/v1/runs/{run}/participants", tags=["participants"])
OPERATOR = [Depends(operator_of_run)]


@router.get("", dependencies=OPERATOR, summary="Who has joined")
def list_all(run: RunField, here: Here) -> ParticipantList:
    return ParticipantList(participants=here.participants.all(run))


@router.put(
    "/{client}",
    responses={201: {"model": ParticipantStatus, "description": "Joined"}},
    summary="Join the run",
)
async def join(
    run: RunField,
    who: ThatClient,
    message: Annotated[Participation, sent(Participation, after=that_client)],
    response: Response,
    here: Here,
) -> ParticipantStatus:
    status, is_new = await here.lane.run(here.participants.join, run, who, message)
    response.status_code = 201 if is_new else 200
    return status


@router.delete("/{client}", dependencies=OPERATOR, summary="Ask this client no more")
def exclude(run: RunField, client: ClientField, here: Here) -> ParticipantStatus:
    return here.participants.exclude(run, client)


@router.put("/{client}/heartbeat", summary="Still here, and doing this")
async def beat(
    run: RunField,
    who: ThatClient,
    message: Annotated[Heartbeat, sent(Heartbeat, after=that_client)],
    here: Here,
) -> ParticipantStatus:
    return await here.participants.beat(run, who, message)


@router.get("/{client}/task", summary="What to do next; a long poll")
async def next_task(
    run: RunField,
    who: ThatClient,
    here: Here,
    request: Request,
    settled: Annotated[RoundNumber, Query(ge=0, lt=1 << 31)] = NO_ROUND,
    wait_seconds: Annotated[float, Query(ge=0, allow_inf_nan=False)] = 0.0,
) -> Task:
    poll = Poll(run, settled, wait_seconds, request.is_disconnected)
    return await here.polls.next_task(poll, who)
