"""Sealed checkpoints: signed by those who contributed, read by those who join late."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from fedperm.ids import RunName
from fedperm.web.documentation import problems
from fedperm.web.json_body import sent
from fedperm.wire.aggregator import CheckpointOffer, CheckpointReceipt, SignedCheckpoint
from fedperm.wire.digest import CONTENT_DIGEST, parse_content_digest
from fedperm.wire.message import RoundField, RunField, Sha256
from fedperm_aggregator.routes.access import Here, ThatClient, reader_of_run, that_client
from fedperm_aggregator.routes.bulk import (
    BULK,
    BULK_ANSWER,
    NOT_MODIFIED,
    blob_response,
    body_of,
    required_header,
    stated_size,
)
from fedperm_aggregator.services import Services

router = APIRouter(prefix="/v1/runs/{run}", tags=["checkpoints"])
READER = [Depends(reader_of_run)]
SEALED = "sealed-checkpoints"
"""The part of the path of their octets."""


@router.get(
    "/checkpoint", dependencies=READER, summary="The newest checkpoint, and who vouches for it"
)
async def offer(run: RunField, here: Here) -> CheckpointOffer:
    return await here.lane.run(here.checkpoints.offer, run)


@router.get(
    "/checkpoint/{sha256}",
    dependencies=READER,
    response_class=Response,
    responses={200: BULK_ANSWER, **NOT_MODIFIED},
    summary="The sealed checkpoint, if it is the newest",
)
async def sealed(run: RunField, sha256: Sha256, request: Request, here: Here) -> Response:
    return await here.lane.run(_sealed, run, sha256, request, here)


def _sealed(run: RunName, sha256: str, request: Request, here: Services) -> Response:
    return blob_response(request, here.checkpoints.sealed(run, sha256))


@router.put("/rounds/{number}/checkpoints/{client}", summary="Vouch for a sealed checkpoint")
async def vouch(
    run: RunField,
    number: RoundField,
    who: ThatClient,
    message: Annotated[SignedCheckpoint, sent(SignedCheckpoint, after=that_client)],
    here: Here,
) -> CheckpointReceipt:
    wanted = await here.lane.run(here.checkpoints.vouch, run, number, who, message)
    return CheckpointReceipt(wanted=wanted)


@router.put(
    f"/rounds/{{number}}/{SEALED}/{{client}}",
    status_code=204,
    response_class=Response,  # another one would name the type of a content that there is not
    responses=problems(410, 411),
    openapi_extra={"requestBody": BULK, "parameters": [required_header(CONTENT_DIGEST)]},
    summary="The octets of a checkpoint, if they are wanted",
)
async def take(
    run: RunField, number: RoundField, who: ThatClient, request: Request, here: Here
) -> None:
    size, sha256 = stated_size(request), parse_content_digest(request.headers.get(CONTENT_DIGEST))
    await here.checkpoints.take(run, number, who, size, sha256, body_of(request))
