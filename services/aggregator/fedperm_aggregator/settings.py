"""The aggregator's settings: environment variables FEDPERM_AGGREGATOR_*, read once at the start."""

import os
from typing import Annotated, ClassVar

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from fedperm.services import AGGREGATOR, ServiceSpec
from fedperm.web.server_settings import Port, ServerSettings

Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class AggregatorSettings(ServerSettings):
    spec: ClassVar[ServiceSpec] = AGGREGATOR
    model_config = SettingsConfigDict(env_prefix=AGGREGATOR.env_prefix)

    port: Port = AGGREGATOR.port
    processes: Count = Field(default_factory=lambda: os.cpu_count() or 1)

    blobs_url: str | None = None
    """Where uploads, aggregates and models are kept, as in file:///folder."""
    workers_url: str = "process://"
    """What checks updates and folds rounds: processes on this machine, `processes` of them."""

    online_seconds: Seconds = 30.0
    """A client not heard of for so long is not asked."""
    longest_wait_seconds: Seconds = 30.0
    """A long poll is answered after so long at the latest."""
    most_waiting: Count = 1000
    """Long polls held at once. Each holds a connection, and all ask anew when a round opens."""
    body_idle_seconds: Seconds = 60.0
    """An upload that stands still for so long is given up."""
    lease_seconds: Seconds = 15.0
    """A job whose worker was silent for so long is given to another."""
    silence_seconds: Seconds = 300.0
    """A worker process that is at one piece of work for so long, a check or a share of a fold, is
    taken for stuck: it is killed, and the job tried again."""
    tick_seconds: Seconds = 0.2
    """How often deadlines and jobs are looked at when nothing calls for it earlier."""
    dashboard: bool = True
    """Whether operators may watch runs in a browser."""
    session_seconds: Seconds = 8 * 3600.0
    """Whoever logged in there has to do so again after so long."""
    traces: bool = False
    """Whether rounds are sent as OpenTelemetry traces; OTEL_EXPORTER_OTLP_ENDPOINT says where."""

    @property
    def blob_store_url(self) -> str:
        """The state directory, unless another place is set."""
        return self.blobs_url or self.state_directory.absolute().as_uri()
