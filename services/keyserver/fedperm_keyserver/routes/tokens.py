"""/v1/keys/{key}/enrolment-tokens."""

from fastapi import APIRouter

from fedperm.web.documentation import problems
from fedperm.wire.key_server import MintedToken, TokenList, TokenRequest, TokenStatus
from fedperm.wire.message import Name
from fedperm_keyserver.routes.guards import Guard
from fedperm_keyserver.tokens import Tokens


def token_routes(tokens: Tokens, operator: Guard) -> APIRouter:
    router = APIRouter(
        prefix="/v1/keys/{key}/enrolment-tokens",
        tags=["enrolment tokens"],
        dependencies=[operator],
    )

    @router.post(
        "",
        summary="Mint a token; its text is shown this once",
        status_code=201,
        responses=problems(401, 404, 409),
    )
    def mint(key: Name, wanted: TokenRequest) -> MintedToken:
        return tokens.mint(key, wanted)

    @router.get("", summary="All tokens, without their texts", responses=problems(401, 404))
    def list_tokens(key: Name) -> TokenList:
        return tokens.all(key)

    @router.delete(
        "/{identifier}",
        summary="Revoke a token: nobody enrols with it again",
        responses=problems(401, 404),
    )
    def revoke(key: Name, identifier: Name) -> TokenStatus:
        return tokens.revoke(key, identifier)

    return router
