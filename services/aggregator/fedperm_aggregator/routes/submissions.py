"""Submissions: two routes for each kind, the upload and what became of it."""

from fastapi import APIRouter, Depends, Request, Response

from fedperm.submissions import SubmissionKind
from fedperm.web.documentation import problems
from fedperm.wire.aggregator import MANIFEST, SubmissionReceipt, SubmissionReport
from fedperm.wire.digest import CONTENT_DIGEST, parse_content_digest
from fedperm.wire.message import ClientField, RoundField, RunField
from fedperm_aggregator.records import SubmissionPlace
from fedperm_aggregator.routes.access import Here, ThatClient, client_or_operator
from fedperm_aggregator.routes.bulk import BULK, body_of, required_header, stated_size
from fedperm_aggregator.submissions.intake import Head

HEADERS = [required_header(name) for name in (CONTENT_DIGEST, MANIFEST)]


def router_of(kind: SubmissionKind) -> APIRouter:
    prefix = "/v1/runs/{run}/rounds/{number}/" + kind.path + "/{client}"
    router = APIRouter(prefix=prefix, tags=[kind.path])

    @router.put(
        "",
        responses={
            201: {"model": SubmissionReceipt, "description": "Stored"},
            **problems(410, 411),
        },
        openapi_extra={"requestBody": BULK, "parameters": HEADERS},
        summary=f"Upload: {kind.name}",
    )
    async def upload(
        run: RunField,
        number: RoundField,
        who: ThatClient,
        request: Request,
        response: Response,
        here: Here,
    ) -> SubmissionReceipt:
        head = Head(
            kind=kind,
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

    @router.get(
        "", dependencies=[Depends(client_or_operator)], summary=f"What became of it: {kind.name}"
    )
    def show(
        run: RunField, number: RoundField, client: ClientField, here: Here
    ) -> SubmissionReport:
        return here.rounds.submission(SubmissionPlace(kind.name, run, number, client))

    return router
