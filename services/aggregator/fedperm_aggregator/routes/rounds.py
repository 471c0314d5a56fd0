"""Rounds: outcomes, aggregates and reports."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from fedperm.web.documentation import problems
from fedperm.web.json_body import sent
from fedperm.wire.aggregator import ClientReport, KeyEpoch, RoundList, RoundOutcome, RoundReport
from fedperm.wire.message import RoundField, RunField
from fedperm_aggregator.routes.access import (
    Here,
    ThatClient,
    operator_of_run,
    reader_of_run,
    that_client,
)
from fedperm_aggregator.routes.bulk import BULK_ANSWER, NOT_MODIFIED, blob_response

router = APIRouter(prefix="/v1/runs/{run}/rounds", tags=["rounds"])
OPERATOR = [Depends(operator_of_run)]
READER = [Depends(reader_of_run)]
RETRY_SECONDS = 1


@router.get("", dependencies=OPERATOR, summary="All rounds, in full")
def list_all(run: RunField, here: Here) -> RoundList:
    return RoundList(rounds=here.rounds.reports(run))


@router.get("/{number}", dependencies=READER, summary="What a participant may know of a round")
async def outcome(run: RunField, number: RoundField, here: Here) -> RoundOutcome:
    known = here.rounds.remembered(run, number)
    if known is not None:
        return known
    return await here.lane.run(here.rounds.outcome, run, number)


@router.get("/{number}/report", dependencies=OPERATOR, summary="All that is known of a round")
def report(run: RunField, number: RoundField, here: Here) -> RoundReport:
    return here.rounds.report(run, number)


@router.get(
    "/{number}/aggregate",
    dependencies=READER,
    response_class=Response,
    responses={
        200: BULK_ANSWER,
        202: {"description": "Not there yet; see Retry-After"},
        **NOT_MODIFIED,
        **problems(410),
    },
    summary="The encrypted sum",
)
async def aggregate(run: RunField, number: RoundField, request: Request, here: Here) -> Response:
    return await here.lane.run(_aggregate, run, number, request, here)


def _aggregate(run: RunField, number: RoundField, request: Request, here: Here) -> Response:
    published = here.rounds.aggregate(run, number)
    if published is None:
        return Response(status_code=202, headers={"Retry-After": str(RETRY_SECONDS)})
    return blob_response(request, published)


@router.put(
    "/{number}/reports/{client}",
    status_code=204,
    response_class=Response,  # another one would name the type of a content that there is not
    summary="A client's own measurements",
)
async def add_report(
    run: RunField,
    number: RoundField,
    who: ThatClient,
    message: Annotated[ClientReport, sent(ClientReport, after=that_client)],
    here: Here,
) -> None:
    await here.lane.run(here.rounds.add_report, run, number, who, message)


@router.put(
    "/{number}/declines/{client}",
    status_code=204,
    response_class=Response,  # as above
    summary="Send nothing for a round whose key is outdated, and bring the newer epoch",
)
async def decline(
    run: RunField,
    number: RoundField,
    who: ThatClient,
    message: Annotated[KeyEpoch, sent(KeyEpoch, after=that_client)],
    here: Here,
) -> None:
    await here.lane.run(here.rounds.decline, run, number, who, message)
