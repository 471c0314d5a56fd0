"""After a round: a contributor signs the digest of the model, sealed to the run's clients.

The same model is sealed to the same octets by everybody, so that more than half of the contributors
vouch for one digest, and whoever joins late can start there. Nothing of this client depends on it.
"""

import asyncio
from functools import partial

from fedperm.lineage import Lineage
from fedperm.wire.checkpoint import encode_sealed
from fedperm.wire.digest import sha256_of
from fedperm.wire.model import encode_model
from fedperm.wire.statements import CheckpointStatement
from fedperm_client.epoch_keys import EpochKey
from fedperm_client.joined_run import JoinedRun
from fedperm_secret.reader_key import SealedPlace


async def vouch(run: JoinedRun) -> None:
    """For the model as it is, under the newest epoch. The octets leave only if they are wanted."""
    lineage = run.checkpoint.lineage
    if lineage is None:
        return
    key = await run.keyring.for_sealing()
    body = await asyncio.to_thread(partial(_sealed, run, lineage, key))
    statement = CheckpointStatement(
        run=run.document.run,
        document=run.frozen.sha256,
        round=lineage.round,
        epoch=key.epoch,
        lineage=lineage.sha256,
        sha256=sha256_of(body),
        size=len(body),
        client=run.client,
    )
    receipt = await run.session.sign_checkpoint(statement, await run.certified())
    if receipt.wanted:
        await run.session.send_checkpoint(lineage.round, body)


def _sealed(run: JoinedRun, lineage: Lineage, key: EpochKey) -> bytes:
    parameters = run.checkpoint.parameters
    place = SealedPlace(run.document.run, run.frozen.sha256, lineage, key.epoch)
    return encode_sealed(key.reader_key.seal(encode_model(parameters), place), parameters.size)
