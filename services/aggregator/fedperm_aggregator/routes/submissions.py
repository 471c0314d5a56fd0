"""Updates: the upload, and what became of it."""

from fastapi import APIRouter, Depends, Request, Response

from fedperm.web.documentation import problems
from fedperm.wire.aggregator import MANIFEST, SubmissionReceipt, SubmissionReport
from fedperm.wire.digest import CONTENT_DIGEST, parse_content_digest
from fedperm.wire.message import Name
from fedperm.wire.statements import RoundNumber
from fedperm_aggregator.routes.access import Here, ThatClient, client_or_operator
from fedperm_aggregator.routes.bulk import BULK, body_of, stated_size
from fedperm_aggregator.submissions.intake import Upload

router = APIRouter(prefix="/v1/runs/{run}/rounds/{number}/updates/{client}", tags=["updates"])

HEADERS = [
    {"name": name, "in": "header", "required": True, "schema": {"type": "string"}}
    for name in (CONTENT_DIGEST, MANIFEST)
]


@router.put(
    "",
    responses={201: {"model": SubmissionReceipt, "description": "Stored"}, **problems(410, 411)},
    openapi_extra={"requestBody": BULK, "parameters": HEADERS},
    summary="Upload an update",
)
async def upload(
    run: Name,
    number: RoundNumber,
    who: ThatClient,
    request: Request,
    response: Response,
    here: Here,
) -> SubmissionReceipt:
    head = Upload(
        run=run,
        round=number,
        sender=who,
        size=stated_size(request),
        sha256=parse_content_digest(request.headers.get(CONTENT_DIGEST)),
        manifest=request.headers.get(MANIFEST, ""),
    )
    receipt, is_new = await here.intake.take(head, body_of(request))
    response.status_code = 201 if is_new else 200
    return receipt


@router.get("", dependencies=[Depends(client_or_operator)], summary="What became of an update")
def show(run: Name, number: RoundNumber, client: Name, here: Here) -> SubmissionReport:
    return here.rounds.update(run, number, client)
