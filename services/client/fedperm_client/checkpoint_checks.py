"""What a client that joins late believes of a checkpoint: only what most contributors have signed.

The aggregator hands it out and names the contributors; it cannot read the checkpoint, and cannot
sign for anybody. So it needs more than half of the named clients to make a joiner start from
something else than they have.
"""

from fedperm.errors import UntrustedError
from fedperm.ids import ClientName
from fedperm.run_document import FrozenDocument
from fedperm.wire.aggregator import CheckpointOffer, RoundOutcome, RoundState, SignedCheckpoint
from fedperm.wire.checkpoint import sealed_body
from fedperm.wire.public_keys import signing_key
from fedperm.wire.signed import verify
from fedperm.wire.statements import CheckpointStatement, ClientCertificate

_HINT = "do not start from it; ask the run's operator"


def check_offer(
    offer: CheckpointOffer,
    outcome: RoundOutcome,
    frozen: FrozenDocument,
    min_contributors: int,
) -> None:
    """More than half of a published round's contributors, who are enough, have signed it. Its
    members are to be checked as those of any round."""
    if (outcome.round, outcome.state) != (offer.round, RoundState.PUBLISHED):
        raise UntrustedError(
            f"the checkpoint is of round {offer.round}, which the aggregator has not published",
            _HINT,
        )
    if not offer.round <= frozen.content.rounds.count or outcome.epoch > offer.epoch:
        raise UntrustedError(
            f"there is no round {offer.round} before key epoch {offer.epoch} in this run", _HINT
        )
    contributors, least = (
        set(outcome.included),
        max(min_contributors, frozen.content.rounds.min_contributors),
    )
    if len(contributors) < least:
        raise UntrustedError(
            f"round {offer.round} had {len(contributors)} contributors, at least {least} are "
            "wanted",
            _HINT,
        )
    signers = {_signer(one, offer, frozen) for one in offer.signed} & contributors
    if 2 * len(signers) <= len(contributors):
        raise UntrustedError(
            f"{len(signers)} of the {len(contributors)} contributors to round {offer.round} have "
            "signed the checkpoint, more than half are needed",
            _HINT,
        )


def _signer(signed: SignedCheckpoint, offer: CheckpointOffer, frozen: FrozenDocument) -> ClientName:
    """Whose signature it is, under a certificate of the run's key server for the run's key."""
    key_server = signing_key(frozen.content.key.signing_key)
    certificate = verify(signed.certificate, ClientCertificate, key_server)
    statement = verify(signed.statement, CheckpointStatement, signing_key(certificate.signing_key))
    expected = CheckpointStatement(
        run=frozen.content.run,
        document=frozen.sha256,
        round=offer.round,
        epoch=offer.epoch,
        lineage=offer.lineage,
        sha256=offer.sha256,
        size=sealed_body(frozen.content.model.parameters).size,
        client=certificate.client,
    )
    if statement != expected or certificate.key != frozen.content.key.key:
        raise UntrustedError(
            f"{certificate.client} has signed another checkpoint than the one on offer", _HINT
        )
    return certificate.client
