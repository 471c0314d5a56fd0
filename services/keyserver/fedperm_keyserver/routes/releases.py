"""/v1/keys/{key}/epochs/{epoch}/releases."""

from typing import Annotated

from fastapi import APIRouter

from fedperm.web.documentation import problems
from fedperm.wire.key_server import ReleasedKey
from fedperm.wire.message import Name
from fedperm.wire.statements import AccessToken
from fedperm_keyserver.releases import Releases
from fedperm_keyserver.routes.epochs import EpochNumber
from fedperm_keyserver.routes.guards import Guard


def release_routes(releases: Releases, client: Guard) -> APIRouter:
    router = APIRouter(tags=["releases"])

    @router.post(
        "/v1/keys/{key}/epochs/{epoch}/releases",
        summary="The secret key of an epoch, sealed to the client that asks",
        status_code=201,
        responses=problems(401, 403, 404),
    )
    def release(
        key: Name, epoch: EpochNumber, bearer: Annotated[AccessToken, client]
    ) -> ReleasedKey:
        return releases.release(key, epoch, bearer)

    return router
