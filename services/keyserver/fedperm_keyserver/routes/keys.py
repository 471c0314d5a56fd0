"""The key server's identity, keys and their epochs, and the audit log of all that was done."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from fedperm.web.documentation import again, problems
from fedperm.web.json_body import sent
from fedperm.wire.key_server import (
    AuditLog,
    DestroyedEpoch,
    Identity,
    KeyList,
    KeyRequest,
    KeyStatus,
    SignedEpoch,
)
from fedperm.wire.message import EpochField, KeyField, Sha256
from fedperm_keyserver.routes.access import EntryNumber, Here, the_operator

router = APIRouter(prefix="/v1")
OPERATOR = [Depends(the_operator)]


@router.get("/identity", tags=["identity"], summary="Who this key server is")
def identity(here: Here) -> Identity:
    return here.authority.identity


@router.put(
    "/keys/{key}",
    tags=["keys"],
    summary="Create a key with its first epoch",
    status_code=201,
    dependencies=OPERATOR,
    responses={**again(KeyStatus), **problems(401, 409)},
)
def create(
    key: KeyField,
    wanted: Annotated[KeyRequest, sent(KeyRequest, after=the_operator)],
    response: Response,
    here: Here,
) -> KeyStatus:
    status, is_new = here.keys.create(key, wanted)
    response.status_code = 201 if is_new else 200
    return status


@router.get(
    "/keys", tags=["keys"], summary="All keys", dependencies=OPERATOR, responses=problems(401)
)
def list_keys(here: Here) -> KeyList:
    return here.keys.all()


@router.get("/keys/{key}", tags=["keys"], summary="A key", responses=problems(404))
def status(key: KeyField, here: Here) -> KeyStatus:
    return here.keys.status(key)


@router.get(
    "/keys/{key}/epochs/{epoch}",
    tags=["epochs"],
    summary="The signed public key of an epoch",
    responses=problems(404),
)
def signed_record(
    key: KeyField, epoch: EpochField, here: Here, signer: Sha256 | None = None
) -> SignedEpoch:
    return here.keys.epoch(key, epoch, signer)


@router.put(
    "/keys/{key}/epochs/{epoch}",
    tags=["epochs"],
    summary="Rotate the key: make its next epoch",
    status_code=201,
    dependencies=OPERATOR,
    responses={**again(SignedEpoch), **problems(401, 404, 409)},
)
def rotate(key: KeyField, epoch: EpochField, response: Response, here: Here) -> SignedEpoch:
    signed, is_new = here.keys.rotate(key, epoch)
    response.status_code = 201 if is_new else 200
    return signed


@router.delete(
    "/keys/{key}/epochs/{epoch}",
    tags=["epochs"],
    summary="Destroy the secret key of an epoch that is not the newest",
    dependencies=OPERATOR,
    responses=problems(401, 404, 409),
)
def destroy(key: KeyField, epoch: EpochField, here: Here) -> DestroyedEpoch:
    return here.keys.destroy(key, epoch)


@router.get(
    "/audit",
    tags=["audit"],
    summary="At most 1000 entries of the audit log after a number",
    dependencies=OPERATOR,
    responses=problems(401),
)
def entries(here: Here, after: EntryNumber = 0) -> AuditLog:
    return AuditLog(entries=here.audit.entries(after))
