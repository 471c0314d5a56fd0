"""/v1/audit."""

from typing import Annotated

from fastapi import APIRouter, Query

from fedperm.web.documentation import problems
from fedperm.wire.key_server import AuditLog
from fedperm_keyserver.audit import Audit
from fedperm_keyserver.routes.guards import Guard

EntryNumber = Annotated[int, Query(ge=0, lt=1 << 31)]


def audit_routes(audit: Audit, operator: Guard) -> APIRouter:
    router = APIRouter(tags=["audit"])

    @router.get(
        "/v1/audit",
        summary="At most 1000 entries of the audit log after a number",
        dependencies=[operator],
        responses=problems(401),
    )
    def entries(after: EntryNumber = 0) -> AuditLog:
        return audit.after(after)

    return router
