"""Joining late: from a sealed checkpoint that the run's contributors vouch for, and not from the
secret keys of all rounds before."""

import asyncio
import logging

from fedperm.errors import UntrustedError
from fedperm.ids import RoundNumber
from fedperm.lineage import Lineage
from fedperm.wire.aggregator import CheckpointOffer
from fedperm.wire.checkpoint import decode_sealed, sealed_body
from fedperm.wire.digest import sha256_of
from fedperm.wire.model import Parameters, decode_model
from fedperm_client.aggregate_checks import check_members
from fedperm_client.checkpoint_checks import check_offer
from fedperm_client.epoch_keys import EpochKey
from fedperm_client.joined_run import JoinedRun
from fedperm_client.model_store import Checkpoint
from fedperm_secret.reader_key import SealedPlace

log = logging.getLogger(__name__)


async def start_late(run: JoinedRun, least: RoundNumber) -> bool:
    """Whether the client is now where the checkpoint on offer is, of round `least` or later.

    One that is sealed under another epoch than the newest is left alone: whoever was revoked since
    could have sealed it. Clients of the run seal it anew as soon as they hear of the newest."""
    offer = await run.session.checkpoint_on_offer()
    if offer is None or offer.round < least or offer.epoch != await run.keyring.ask_newest():
        return False
    outcome = await run.session.outcome(offer.round)
    check_offer(offer, outcome, run.frozen, run.min_contributors)
    check_members(
        outcome, run.document, run.client, may_have_sent=await run.may_have_sent(offer.round)
    )
    body = await run.session.sealed_checkpoint(
        offer.sha256, sealed_body(run.document.model.parameters).size
    )
    key = await run.keyring.for_sealing()
    after = Checkpoint(
        await asyncio.to_thread(_opened, run, offer, body, key),
        offer.round,
        outcome.epoch,
        run.frozen.sha256,
        _lineage(offer),
    )
    await asyncio.to_thread(run.store.save, after)
    await asyncio.to_thread(run.outbox.clear, offer.round)
    run.checkpoint = after
    log.info(
        "starts after round %d, from the checkpoint that %d of %d contributors have signed",
        *(offer.round, len(offer.signed), len(outcome.included)),
    )
    return True


def _opened(run: JoinedRun, offer: CheckpointOffer, body: bytes, key: EpochKey) -> Parameters:
    if sha256_of(body) != offer.sha256:
        raise UntrustedError(
            f"the checkpoint of round {offer.round} is not the one that was signed",
            "do not start from it; ask the run's operator",
        )
    parameters = run.document.model.parameters
    place = SealedPlace(run.document.run, run.frozen.sha256, _lineage(offer), offer.epoch)
    return decode_model(key.reader_key.open(decode_sealed(body, parameters), place), parameters)


def _lineage(offer: CheckpointOffer) -> Lineage:
    return Lineage(offer.round, offer.lineage)
