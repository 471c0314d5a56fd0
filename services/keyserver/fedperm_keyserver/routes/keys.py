"""/v1/keys."""

from fastapi import APIRouter, Response

from fedperm.web.documentation import again, problems
from fedperm.wire.key_server import KeyList, KeyRequest, KeyStatus
from fedperm.wire.message import Name
from fedperm_keyserver.keys import Keys
from fedperm_keyserver.routes.guards import Guard


def key_routes(keys: Keys, operator: Guard) -> APIRouter:
    router = APIRouter(prefix="/v1/keys", tags=["keys"])

    @router.put(
        "/{key}",
        summary="Create a key with its first epoch",
        status_code=201,
        dependencies=[operator],
        responses={**again(KeyStatus), **problems(401, 409)},
    )
    def create(key: Name, wanted: KeyRequest, response: Response) -> KeyStatus:
        outcome = keys.create(key, wanted)
        response.status_code = outcome.status
        return outcome.answer

    @router.get("", summary="All keys", dependencies=[operator], responses=problems(401))
    def list_keys() -> KeyList:
        return keys.all()

    @router.get("/{key}", summary="A key", responses=problems(404))
    def status(key: Name) -> KeyStatus:
        return keys.status(key)

    return router
