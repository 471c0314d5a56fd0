"""/v1/keys/{key}/clients."""

from fastapi import APIRouter, Response

from fedperm.web.documentation import again, problems
from fedperm.wire.key_server import ClientList, Enrolled, Enrolment, Revocation
from fedperm.wire.message import Name
from fedperm_keyserver.clients import Clients
from fedperm_keyserver.routes.guards import Guard


def client_routes(clients: Clients, operator: Guard, limit: Guard) -> APIRouter:
    router = APIRouter(prefix="/v1/keys/{key}/clients", tags=["clients"])

    @router.post(
        "",
        summary="Enrol with a token and two public keys of one's own",
        status_code=201,
        dependencies=[limit],
        responses={**again(Enrolled), **problems(401, 404, 409, 410, 429)},
    )
    def enrol(key: Name, enrolment: Enrolment, response: Response) -> Enrolled:
        outcome = clients.enrol(key, enrolment)
        response.status_code = outcome.status
        return outcome.answer

    @router.get("", summary="All clients", dependencies=[operator], responses=problems(401, 404))
    def list_clients(key: Name) -> ClientList:
        return clients.all(key)

    @router.delete(
        "/{client}",
        summary="Revoke a client; the key gets a new epoch",
        dependencies=[operator],
        responses=problems(401, 404),
    )
    def revoke(key: Name, client: Name) -> Revocation:
        return clients.revoke(key, client)

    return router
