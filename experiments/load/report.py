"""The result: this tree of messages is its JSON, and the picture is drawn from it alone."""

from experiments.load.refusals import Refusal
from experiments.load.setting import Setting
from experiments.load.usage import Sample, Usage
from fedperm.wire.aggregator import AggregatorSeconds, ClientSeconds
from fedperm.wire.message import Many, Message


class Spread(Message):
    """Percentiles, linear between neighbours."""

    p50: float
    p99: float
    largest: float


class Failures(Message):
    """`missing_uploads` are those that no round's sum has although nobody rejected them;
    `failed_clients` ended with an error, were restarted or never ended; servers were restarted."""

    rejected_uploads: int
    missing_uploads: int
    aborted_rounds: int
    failed_clients: int
    failed_operator: int
    failed_servers: int

    @property
    def total(self) -> int:
        return sum(self.model_dump().values())


class RoundTimes(Message):
    """POSIX times, and the upload seconds that the round's clients reported."""

    opened_at: float
    sealed_at: float
    published_at: float
    upload_seconds: Many[float]


class ClientFigures(Message):
    """Of one client in one round: medians over all of them, and means of bytes."""

    seconds: ClientSeconds
    upload: Spread
    bytes_up: float
    bytes_down: float


class LoadReport(Message):
    """`aggregator_seconds` are medians over rounds; `one_client` is one of many, its start
    included. Without a published round there are no figures of clients and rounds."""

    setting: Setting
    rounds_per_minute: float
    clients: ClientFigures | None
    aggregator_seconds: AggregatorSeconds | None
    aggregator: Usage
    one_client: Usage
    failures: Failures
    refusals: Many[Refusal]
    rounds: Many[RoundTimes]
    samples: Many[Sample]
