"""The result: this tree of messages is its JSON."""

from experiments.rush.setting import Setting
from fedperm.wire.message import Many, Message


class Endpoint(Message):
    """Seconds of the answers, as the one who asked saw them; percentiles are linear between
    neighbours. Requests include those that failed."""

    name: str
    requests: int
    failed: int
    p50: float | None = None
    p99: float | None = None
    longest: float | None = None


class Process(Message):
    name: str
    cpu_seconds: float
    peak_rss_bytes: int
    peak_pss_bytes: int


class Lateness(Message):
    """How late an event loop was at worst; `own` is without its wait for a processor, `loop` what
    it computed itself meanwhile."""

    all: float
    own: float
    loop: float


class RushReport(Message):
    """`control` is all of the onlooker's requests together; `news` is how long after a round was
    published its clients heard of it. Lags are the drivers' own, and in the times that they
    measured."""

    setting: Setting
    seconds: float
    requests_per_second: float
    failed: int
    failures: Many[str]
    rounds_published: int
    news: Endpoint
    control: Endpoint
    endpoints: Many[Endpoint]
    aggregator_stall: Lateness
    crowd_lag: Lateness
    onlooker_lag: Lateness
    processes: Many[Process]
