"""Settings of the key server: environment variables with the prefix FEDPERM_KEYSERVER_."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from fedperm.errors import SettingsError
from fedperm.settings import Settings, read_secret
from fedperm.web.serving import Serving
from fedperm_keyserver.vault import key_encryption_key
from fedperm_secret.at_rest import KeyEncryptionKey

Burst = Annotated[int, Field(ge=1)]
PerSecond = Annotated[float, Field(gt=0)]


class KeyServerSettings(Settings):
    """The key-encryption key is 64 hexadecimal digits, in a file or in a variable. Without one
    the server starts sealed."""

    model_config = SettingsConfigDict(env_prefix="FEDPERM_KEYSERVER_")

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, lt=1 << 16)] = 8441
    address_file: Path | None = None
    tls_certificate: Path | None = None
    tls_key: Path | None = None

    state_directory: Path
    database_url: SecretStr | None = None
    operator_token_file: Path
    key_encryption_key_file: Path | None = None
    key_encryption_key: SecretStr | None = None

    access_token_seconds: Annotated[int, Field(ge=10, le=3600)] = 300
    enrolment_burst: Burst = 100
    enrolment_per_second: PerSecond = 10.0
    access_burst: Burst = 200
    access_per_second: PerSecond = 50.0
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    insecure_for_tests: bool = False

    def serving(self) -> Serving:
        return Serving(
            host=self.host,
            port=self.port,
            tls_certificate=self.tls_certificate,
            tls_key=self.tls_key,
            address_file=self.address_file,
        )

    def read_key_encryption_key(self) -> KeyEncryptionKey | None:
        if self.key_encryption_key and self.key_encryption_key_file:
            raise SettingsError(
                "the key-encryption key is given twice", "set the file or the variable, not both"
            )
        if self.key_encryption_key_file:
            return key_encryption_key(read_secret(self.key_encryption_key_file))
        if self.key_encryption_key:
            return key_encryption_key(self.key_encryption_key.get_secret_value())
        return None
