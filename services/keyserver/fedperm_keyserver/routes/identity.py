"""/v1/identity."""

from fastapi import APIRouter

from fedperm.wire.key_server import Identity
from fedperm_keyserver.authority import Authority
from fedperm_keyserver.routes.documentation import problems


def identity_routes(authority: Authority) -> APIRouter:
    router = APIRouter(tags=["identity"])

    @router.get("/v1/identity", summary="Who this key server is", responses=problems())
    def identity() -> Identity:
        return authority.identity

    return router
