"""Settings of the key server: environment variables with the prefix FEDPERM_KEYSERVER_."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from fedperm.errors import SettingsError
from fedperm.services import KEY_SERVER, ServiceSpec
from fedperm.settings import read_secret
from fedperm.web.server_settings import Port, ServerSettings
from fedperm_keyserver.vault import key_encryption_key
from fedperm_secret.at_rest import KeyEncryptionKey

Burst = Annotated[int, Field(ge=1)]
PerSecond = Annotated[float, Field(gt=0)]


class KeyServerSettings(ServerSettings):
    """The key-encryption key is 64 hexadecimal digits, in a file or in a variable. Without one
    the server starts sealed."""

    spec: ClassVar[ServiceSpec] = KEY_SERVER
    model_config = SettingsConfigDict(env_prefix=KEY_SERVER.env_prefix)

    port: Port = KEY_SERVER.port
    key_encryption_key_file: Path | None = None
    key_encryption_key: SecretStr | None = None

    access_token_seconds: Annotated[int, Field(ge=10, le=3600)] = 300
    enrolment_burst: Burst = 100
    enrolment_per_second: PerSecond = 10.0
    access_burst: Burst = 200
    access_per_second: PerSecond = 50.0

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
