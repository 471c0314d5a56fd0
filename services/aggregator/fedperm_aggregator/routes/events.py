"""Server-sent events of a run."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Response
from starlette.responses import StreamingResponse

from fedperm.wire.events import Event
from fedperm.wire.message import RunField
from fedperm_aggregator.routes.access import Here, operator_of_run

router = APIRouter(prefix="/v1/runs/{run}/events", tags=["events"])


@router.get(
    "",
    dependencies=[Depends(operator_of_run)],
    response_class=Response,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Event by event"}},
    summary="What happens, as it happens",
)
async def follow(
    run: RunField,
    here: Here,
    last_event_id: Annotated[int, Header(alias="Last-Event-ID", ge=0, lt=1 << 63)] = 0,
) -> StreamingResponse:
    return StreamingResponse(
        _lines(here.events.follow(run, last_event_id)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store"},
    )


async def _lines(events: AsyncIterator[Event | None]) -> AsyncIterator[str]:
    async for event in events:
        if event is None:
            yield ": still here\n\n"
        else:
            yield f"id: {event.id}\nevent: {event.event}\ndata: {event.model_dump_json()}\n\n"
