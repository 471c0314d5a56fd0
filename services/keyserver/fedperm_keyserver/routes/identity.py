"""/v1/identity."""

from fastapi import APIRouter

from fedperm.wire.key_server import Identity
from fedperm_keyserver.authority import Authority


def identity_routes(authority: Authority) -> APIRouter:
    router = APIRouter(tags=["identity"])

    @router.get("/v1/identity", summary="Who this key server is")
    def identity() -> Identity:
        return authority.identity

    return router
