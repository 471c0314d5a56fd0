"""Clients: the tokens they enrol with, enrolment and revocation, and what they are given."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from fedperm.web.documentation import again, problems
from fedperm.web.json_body import sent
from fedperm.wire.key_server import (
    AccessTokenRequest,
    Certificate,
    ClientList,
    Enrolled,
    Enrolment,
    GrantedAccess,
    MintedToken,
    ReleasedKey,
    Revocation,
    SignedNotice,
    TokenList,
    TokenRequest,
    TokenStatus,
)
from fedperm.wire.message import ClientField, EpochField, KeyField, Name
from fedperm.wire.statements import Nonce
from fedperm_keyserver.routes.access import (
    AClient,
    AReceiver,
    ASigner,
    EntryNumber,
    Here,
    limited_enrolment,
    signer,
    the_operator,
)

router = APIRouter(prefix="/v1")
OPERATOR = [Depends(the_operator)]


@router.post(
    "/keys/{key}/enrolment-tokens",
    tags=["enrolment tokens"],
    summary="Mint a token; its text is shown this once",
    status_code=201,
    dependencies=OPERATOR,
    responses=problems(401, 404, 409),
)
def mint(
    key: KeyField,
    wanted: Annotated[TokenRequest, sent(TokenRequest, after=the_operator)],
    here: Here,
) -> MintedToken:
    return here.tokens.mint(key, wanted)


@router.get(
    "/keys/{key}/enrolment-tokens",
    tags=["enrolment tokens"],
    summary="All tokens, without their texts",
    dependencies=OPERATOR,
    responses=problems(401, 404),
)
def list_tokens(key: KeyField, here: Here) -> TokenList:
    return here.tokens.all(key)


@router.delete(
    "/keys/{key}/enrolment-tokens/{identifier}",
    name="revoke",
    tags=["enrolment tokens"],
    summary="Revoke a token: nobody enrols with it again",
    dependencies=OPERATOR,
    responses=problems(401, 404),
)
def revoke_token(key: KeyField, identifier: Name, here: Here) -> TokenStatus:
    return here.tokens.revoke(key, identifier)


@router.post(
    "/keys/{key}/clients",
    tags=["clients"],
    summary="Enrol with a token and two public keys of one's own",
    status_code=201,
    dependencies=[Depends(limited_enrolment)],
    responses={**again(Enrolled), **problems(401, 404, 409, 410, 429)},
)
def enrol(
    key: KeyField,
    enrolment: Annotated[Enrolment, sent(Enrolment, after=limited_enrolment)],
    response: Response,
    here: Here,
) -> Enrolled:
    enrolled, is_new = here.clients.enrol(key, enrolment)
    response.status_code = 201 if is_new else 200
    return enrolled


@router.get(
    "/keys/{key}/clients",
    tags=["clients"],
    summary="All clients",
    dependencies=OPERATOR,
    responses=problems(401, 404),
)
def list_clients(key: KeyField, here: Here) -> ClientList:
    return here.clients.all(key)


@router.delete(
    "/keys/{key}/clients/{client}",
    tags=["clients"],
    summary="Revoke a client; the key gets a new epoch",
    dependencies=OPERATOR,
    responses=problems(401, 404),
)
def revoke(key: KeyField, client: ClientField, here: Here) -> Revocation:
    return here.clients.revoke(key, client)


@router.post(
    "/access-tokens",
    tags=["access"],
    summary="An access token for a signed assertion",
    status_code=201,
    responses=problems(401, 403, 429),
)
def grant(
    proven: ASigner,
    wanted: Annotated[AccessTokenRequest, sent(AccessTokenRequest, after=signer)],
    here: Here,
) -> GrantedAccess:
    return here.access.grant(proven, wanted.audience)


@router.post(
    "/keys/{key}/epochs/{epoch}/releases",
    tags=["releases"],
    summary="The secret key of an epoch, sealed to the client that asks",
    status_code=201,
    responses=problems(401, 403, 404, 410, 429),
)
def release(
    key: KeyField,
    epoch: EpochField,
    bearer: AReceiver,
    here: Here,
    holds: EntryNumber | None = None,
) -> ReleasedKey:
    return here.access.release(key, epoch, bearer, holds)


@router.get(
    "/keys/{key}/newest-epoch/{nonce}",
    tags=["epochs"],
    summary="Which epoch is the newest now, signed for the nonce of the client that asks",
    responses=problems(401, 403, 404),
)
def newest_epoch(key: KeyField, nonce: Nonce, bearer: AClient, here: Here) -> SignedNotice:
    return here.access.newest_epoch(key, nonce, bearer)


@router.get(
    "/keys/{key}/clients/{client}/certificate",
    tags=["clients"],
    summary="Whose the client's signing key is, for other clients to verify",
    responses=problems(401, 403, 404),
)
def certificate(key: KeyField, client: ClientField, bearer: AClient, here: Here) -> Certificate:
    return here.access.certificate(key, client, bearer)
