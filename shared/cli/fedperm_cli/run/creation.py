"""A prepared run at the aggregator; everything may be sent again."""

from fedperm.api.key_server import KeyServerApi
from fedperm.wire.aggregator import RunStatus
from fedperm_cli.run.key_epochs import bring_key_epochs
from fedperm_cli.run.preparation import PreparedRun
from fedperm_cli.servers.sessions import RunOperator


async def create_run(prepared: PreparedRun, keys: KeyServerApi, operator: RunOperator) -> RunStatus:
    run = prepared.document.content.run
    await operator.api.create_run(prepared.document, operator.token)
    await operator.api.put_initial_model(run, prepared.initial_model, operator.token)
    await bring_key_epochs(keys, operator, run)
    return await operator.api.run(run, operator.token)
