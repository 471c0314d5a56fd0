"""/v1/access-tokens."""

from fastapi import APIRouter

from fedperm.web.documentation import problems
from fedperm.wire.key_server import AccessTokenRequest, GrantedAccess
from fedperm_keyserver.access import Access
from fedperm_keyserver.routes.guards import Guard


def access_routes(access: Access, limit: Guard) -> APIRouter:
    router = APIRouter(tags=["access"])

    @router.post(
        "/v1/access-tokens",
        summary="An access token for a signed assertion",
        status_code=201,
        dependencies=[limit],
        responses=problems(401, 403, 429),
    )
    def grant(wanted: AccessTokenRequest) -> GrantedAccess:
        return access.grant(wanted)

    return router
