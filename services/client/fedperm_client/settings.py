"""What the owner of a client decides: whom to ask, where to keep things, and its own ceilings.

The run's operator writes the run's document; these settings are the client's answer to it.
"""

from pathlib import Path
from typing import Annotated, Self

from pydantic import AliasChoices, Field, SecretStr, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from fedperm.contributors import LEAST_CONTRIBUTORS
from fedperm.errors import FedPermError, SettingsError, UnauthenticatedError
from fedperm.logs import LogLevel
from fedperm.privacy.noise_limits import LEAST_LAPLACE_SCALE, MOST_RECORD_EPSILON
from fedperm.privacy.registry import accountant_named
from fedperm.schemes.registry import DEFAULT_KEY_BITS
from fedperm.services import CLIENT
from fedperm.settings import Settings, read_secret
from fedperm.wire.enrolment_token import EnrolmentToken, parse_token
from fedperm.wire.message import KeyField, RunField, Sha256
from fedperm_client.ceilings import Ceilings
from fedperm_client.pins import Pins
from fedperm_client.reports import Reporting

Positive = Annotated[float, Field(gt=0)]
Url = Annotated[str, Field(pattern=r"^https?://[^/]+")]


class ClientSettings(Settings):
    """FEDPERM_CLIENT_RUN and so on; the task is also FEDPERM_TASK, as for the command."""

    model_config = SettingsConfigDict(env_prefix=CLIENT.env_prefix, populate_by_name=True)

    keyserver_url: Url
    aggregator_url: Url
    ca_file: Path | None = None
    run: RunField
    key: KeyField
    enrolment_token: SecretStr | None = None
    enrolment_token_file: Path | None = None
    state_directory: Path
    data_directory: Path = Path("data")
    task: Annotated[
        str | None, Field(validation_alias=AliasChoices(f"{CLIENT.env_prefix}TASK", "FEDPERM_TASK"))
    ] = None
    shard: Annotated[int, Field(ge=0)] | None = None

    document_sha256: Sha256 | None = None
    operator_fingerprint: Sha256 | None = None
    operator_fingerprint_file: Path | None = None

    max_epsilon: Positive | None = None
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-5
    accountant: str = "default"
    max_record_epsilon: Positive | None = None
    min_laplace_scale: Positive | None = None
    min_key_bits: int = DEFAULT_KEY_BITS
    min_contributors: Annotated[int, Field(ge=1)] = LEAST_CONTRIBUTORS
    min_window: Annotated[int, Field(ge=1)] = 2
    accept_no_privacy: bool = False
    accept_no_record_guarantee: bool = False
    allow_local_metrics: bool = False
    reports: Reporting = Reporting.SEALED
    lost_audit_head: Sha256 | None = None
    """Of a key server whose database was restored from a backup, which its operator has told."""
    insecure_for_tests: bool = False

    torch_threads: Annotated[int, Field(ge=1)] = 1
    patience_seconds: Annotated[float, Field(ge=0)] = 600.0
    log_level: LogLevel = "INFO"

    @field_validator("accountant")
    @classmethod
    def _counts(cls, name: str) -> str:
        try:
            accountant = accountant_named(name)
        except FedPermError as error:
            raise ValueError(str(error)) from None
        if accountant.experimental or accountant.reproduction_only:
            raise ValueError(f"{name} gives no proved bound; choose another, such as default")
        return name

    @model_validator(mode="after")
    def _says_what_it_gives(self) -> Self:
        if (self.max_epsilon is None) != self.accept_no_privacy:
            raise ValueError(
                "set MAX_EPSILON, the privacy that this client is willing to spend, or "
                "ACCEPT_NO_PRIVACY=true, and not both"
            )
        if self.max_record_epsilon is not None and self.accept_no_record_guarantee:
            raise ValueError("set MAX_RECORD_EPSILON or ACCEPT_NO_RECORD_GUARANTEE, not both")
        if self.min_laplace_scale is not None and not self._accepts_no_record_guarantee:
            raise ValueError(
                "MIN_LAPLACE_SCALE is for runs without a guarantee for records: also set "
                "ACCEPT_NO_RECORD_GUARANTEE=true"
            )
        if self.enrolment_token is not None and self.enrolment_token_file is not None:
            raise ValueError("set ENROLMENT_TOKEN or ENROLMENT_TOKEN_FILE, not both")
        if self.operator_fingerprint is not None and self.operator_fingerprint_file is not None:
            raise ValueError("set OPERATOR_FINGERPRINT or OPERATOR_FINGERPRINT_FILE, not both")
        return self

    @property
    def ceilings(self) -> Ceilings:
        return Ceilings(
            max_epsilon=self.max_epsilon,
            delta=self.delta,
            accountant=self.accountant,
            max_record_epsilon=self._most_for_a_record,
            min_laplace_scale=self._least_noise,
            min_key_bits=self.min_key_bits,
            min_contributors=self.min_contributors,
            min_window=self.min_window,
            insecure_for_tests=self.insecure_for_tests,
        )

    @property
    def pins(self) -> Pins:
        pinned = self.operator_fingerprint
        if self.operator_fingerprint_file is not None:
            pinned = read_secret(self.operator_fingerprint_file)
        return Pins(document=self.document_sha256, operator=pinned)

    @property
    def _accepts_no_record_guarantee(self) -> bool:
        """Whoever gives up all privacy has said this as well."""
        return self.accept_no_record_guarantee or self.accept_no_privacy

    @property
    def _most_for_a_record(self) -> float | None:
        if self.max_record_epsilon is not None or self._accepts_no_record_guarantee:
            return self.max_record_epsilon
        return MOST_RECORD_EPSILON

    @property
    def _least_noise(self) -> float:
        if self.min_laplace_scale is not None:
            return self.min_laplace_scale
        return 0.0 if self.accept_no_privacy else LEAST_LAPLACE_SCALE

    def token(self) -> EnrolmentToken:
        """Read only when the client is not enrolled yet: the file may be gone later."""
        try:
            return parse_token(self._token_text())
        except UnauthenticatedError as error:
            raise SettingsError(error.message, error.hint) from None

    def _token_text(self) -> str:
        if self.enrolment_token is not None:
            return self.enrolment_token.get_secret_value()
        if self.enrolment_token_file is not None:
            return read_secret(self.enrolment_token_file)
        raise SettingsError(
            "this client is not enrolled and has no enrolment token",
            f"ask the key operator for one and set {CLIENT.env_prefix}ENROLMENT_TOKEN_FILE",
        )
