"""What a finished client leaves for others to read: `summary.json` in its state directory."""

import json
from pathlib import Path
from typing import Any

from fedperm.crash_points import persisting
from fedperm.durable_file import write_durably
from fedperm.privacy.rendering import as_json
from fedperm.wire.aggregator import ClientSeconds, RunState, TestMetrics
from fedperm.wire.message import Lax, Many, Message, Name, Sha256
from fedperm_client.history import RoundRecord
from fedperm_client.joined_run import JoinedRun
from fedperm_client.model_store import Checkpoint


class Summary(Message):
    """`seconds` and octets are sums over `history`, which has a line for each round that this
    client measured. `privacy` is the report of the whole run, null without noise; the ledger's
    `epsilon_spent` counts what this client sent, in all runs with this state directory."""

    run: Name
    document: Sha256
    client: Name
    state: Lax[RunState]
    rounds: int
    rounds_included: int
    test: TestMetrics | None
    seconds: ClientSeconds
    bytes_up: int
    bytes_down: int
    privacy: dict[str, Any] | None
    epsilon_spent: float | None
    parameters: int
    parameters_sha256: Sha256
    model: str
    history: Many[RoundRecord]

    @persisting
    def write(self, path: Path) -> None:
        write_durably(path, self.model_dump_json(indent=2).encode())


def summarise(
    run: JoinedRun, checkpoint: Checkpoint, state: RunState, test: TestMetrics | None
) -> Summary:
    history = run.history.read()
    return Summary(
        run=run.document.run,
        document=run.frozen.sha256,
        client=run.client,
        state=state,
        rounds=checkpoint.settled,
        rounds_included=sum(record.included for record in history),
        test=test,
        seconds=_total(history),
        bytes_up=sum(record.report.bytes_up for record in history),
        bytes_down=sum(record.report.bytes_down for record in history),
        privacy=None if run.privacy is None else json.loads(as_json(run.privacy)),
        epsilon_spent=None if run.ledger is None else run.ledger.ledger.spent(),
        parameters=checkpoint.parameters.size,
        parameters_sha256=checkpoint.sha256,
        model=str(run.directory.model.resolve()),
        history=history,
    )


def _total(history: tuple[RoundRecord, ...]) -> ClientSeconds:
    seconds = [record.report.seconds.model_dump() for record in history]
    return ClientSeconds(
        **{part: sum(one[part] for one in seconds) for part in ClientSeconds.model_fields}
    )
