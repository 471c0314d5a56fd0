"""Runs: what the operator puts, and what everybody reads of it."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from fedperm.run_document import DOCUMENT_SIGNATURE, RunDocument
from fedperm.web.documentation import problems
from fedperm.web.json_body import JSON, check_media_type, sent
from fedperm.wire.aggregator import KeyEpoch, KeyEpochs, RunList, RunStatus
from fedperm.wire.message import EpochField, RunField
from fedperm_aggregator.routes.access import Here, operator_of_run, reader_of_run, the_operator
from fedperm_aggregator.routes.bulk import (
    BULK,
    BULK_ANSWER,
    NOT_MODIFIED,
    blob_response,
    body_of,
    immutable,
    stated_size,
)

router = APIRouter(prefix="/v1/runs", tags=["runs"])
OPERATOR = [Depends(operator_of_run)]
READER = [Depends(reader_of_run)]
DOCUMENT = {JSON: {"schema": {"$ref": "#/components/schemas/RunDocument"}}}
CREATED: dict[int | str, dict[str, Any]] = {201: {"model": RunStatus, "description": "Created"}}


def _answer(response: Response, status: RunStatus, *, is_new: bool) -> RunStatus:
    response.status_code = 201 if is_new else 200
    return status


@router.put(
    "/{run}",
    dependencies=[Depends(the_operator)],
    responses=CREATED,
    openapi_extra={"requestBody": {"required": True, "content": DOCUMENT}},
    summary="Create a run from its document",
)
async def create(run: RunField, request: Request, response: Response, here: Here) -> RunStatus:
    check_media_type(request, JSON)
    octets = await request.body()
    signature = request.headers.get(DOCUMENT_SIGNATURE, "")
    status, is_new = await asyncio.to_thread(here.runs.create, run, octets, signature)
    return _answer(response, status, is_new=is_new)


@router.get("", dependencies=[Depends(the_operator)], summary="All runs")
def list_all(here: Here) -> RunList:
    return RunList(runs=tuple(here.runs.all()))


@router.get("/{run}", dependencies=READER, summary="How a run is going")
def show(run: RunField, here: Here) -> RunStatus:
    return here.runs.status(run)


@router.get(
    "/{run}/document",
    dependencies=READER,
    response_class=Response,
    responses={200: {"model": RunDocument, "description": "The document"}, **NOT_MODIFIED},
    summary="The document, byte by byte as it was sent",
)
def document(run: RunField, request: Request, here: Here) -> Response:
    frozen = here.runs.document(run)
    headers, not_modified = immutable(request, frozen.sha256)
    if frozen.signature:
        headers[DOCUMENT_SIGNATURE] = frozen.signature
    return not_modified or Response(frozen.octets, 200, headers, JSON)


@router.put(
    "/{run}/initial-model",
    dependencies=OPERATOR,
    responses=CREATED | problems(411),
    openapi_extra={"requestBody": BULK},
    summary="The model that all clients start from",
)
async def put_initial_model(
    run: RunField, request: Request, response: Response, here: Here
) -> RunStatus:
    size = stated_size(request)
    status, is_new = await here.runs.put_initial_model(run, size, body_of(request))
    return _answer(response, status, is_new=is_new)


@router.get(
    "/{run}/initial-model",
    dependencies=READER,
    response_class=Response,
    responses={200: BULK_ANSWER, **NOT_MODIFIED},
    summary="The model that all clients start from",
)
def initial_model(run: RunField, request: Request, here: Here) -> Response:
    return blob_response(request, here.runs.initial_model(run))


@router.put(
    "/{run}/key-epochs/{epoch}",
    dependencies=OPERATOR,
    responses=CREATED,
    summary="A signed public key, used from the next round on",
)
def put_epoch(
    run: RunField,
    epoch: EpochField,
    message: Annotated[KeyEpoch, sent(KeyEpoch, after=operator_of_run)],
    response: Response,
    here: Here,
) -> RunStatus:
    status, is_new = here.runs.put_epoch(run, epoch, message)
    return _answer(response, status, is_new=is_new)


@router.get("/{run}/key-epochs", dependencies=READER, summary="All key epochs, in order")
def epochs(run: RunField, here: Here) -> KeyEpochs:
    return KeyEpochs(epochs=here.runs.epochs(run))


@router.post("/{run}/stop", dependencies=OPERATOR, summary="Open no further round")
def stop(run: RunField, here: Here) -> RunStatus:
    return here.runs.stop(run)


@router.post("/{run}/resume", dependencies=OPERATOR, summary="Go on after a stop")
def resume(run: RunField, here: Here) -> RunStatus:
    return here.runs.resume(run)
