"""The aggregator's settings: environment variables FEDPERM_AGGREGATOR_*, read once at the start."""

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from fedperm.settings import Settings

Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class AggregatorSettings(Settings):
    """`operator_token_file` holds the run operator's bearer secret; everything that must survive
    a restart lies in `state_directory`, but for the database if it has a URL of its own."""

    model_config = SettingsConfigDict(env_prefix="FEDPERM_AGGREGATOR_")

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, lt=1 << 16)] = 8100
    address_file: Path | None = None
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    operator_token_file: Path
    state_directory: Path
    database_url: str | None = None
    processes: Count = Field(default_factory=lambda: os.cpu_count() or 1)

    online_seconds: Seconds = 30.0
    """A client not heard of for so long is not asked."""
    longest_wait_seconds: Seconds = 30.0
    """A long poll is answered after so long at the latest."""
    most_waiting: Count = 10_000
    """Long polls held at once."""
    body_idle_seconds: Seconds = 60.0
    """An upload that stands still for so long is given up."""
    lease_seconds: Seconds = 15.0
    """A job whose worker was silent for so long is given to another."""
    tick_seconds: Seconds = 0.2
    """How often deadlines and jobs are looked at when nothing calls for it earlier."""

    insecure_for_tests: bool = False
    """Admits runs whose document says the same: short keys, no norm bound."""

    @property
    def url(self) -> str:
        """Of the database: a file beside the bulk data if nothing else is said."""
        return self.database_url or f"sqlite:///{self.state_directory / 'aggregator.sqlite3'}"
