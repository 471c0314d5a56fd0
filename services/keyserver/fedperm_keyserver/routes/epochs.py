"""/v1/keys/{key}/epochs/{epoch}."""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from fedperm.web.documentation import again, problems
from fedperm.wire.key_server import SignedEpoch
from fedperm.wire.message import Name
from fedperm_keyserver.keys import Keys
from fedperm_keyserver.routes.guards import Guard

EpochNumber = Annotated[int, Path(ge=1, lt=1 << 31)]


def epoch_routes(keys: Keys, operator: Guard) -> APIRouter:
    router = APIRouter(prefix="/v1/keys/{key}/epochs/{epoch}", tags=["epochs"])

    @router.get("", summary="The signed public key of an epoch", responses=problems(404))
    def signed_record(key: Name, epoch: EpochNumber) -> SignedEpoch:
        return keys.epoch(key, epoch)

    @router.put(
        "",
        summary="Rotate the key: make its next epoch",
        status_code=201,
        dependencies=[operator],
        responses={**again(SignedEpoch), **problems(401, 404, 409)},
    )
    def rotate(key: Name, epoch: EpochNumber, response: Response) -> SignedEpoch:
        outcome = keys.rotate(key, epoch)
        response.status_code = outcome.status
        return outcome.answer

    return router
