"""Settings of the key server: environment variables with the prefix FEDPERM_KEYSERVER_."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode, SettingsConfigDict

from fedperm.services import KEY_SERVER, ServiceSpec
from fedperm.web.server_settings import Port, ServerSettings
from fedperm_keyserver.unsealing import KeySource, read_command
from fedperm_secret.at_rest import KeyEncryptionKey

Burst = Annotated[int, Field(ge=1)]
PerSecond = Annotated[float, Field(gt=0)]
Command = Annotated[tuple[str, ...], NoDecode, BeforeValidator(read_command)]
"""A JSON list of a program and its arguments."""


class KeyServerSettings(ServerSettings):
    """The key-encryption key is 64 hexadecimal digits, in a file, from a program or in a variable.
    Without one the server starts sealed."""

    spec: ClassVar[ServiceSpec] = KEY_SERVER
    model_config = SettingsConfigDict(env_prefix=KEY_SERVER.env_prefix)

    port: Port = KEY_SERVER.port
    key_encryption_key_file: Path | None = None
    key_encryption_key_command: Command = ()
    key_encryption_key_command_seconds: Annotated[float, Field(gt=0)] = 60.0
    """How long the program may take: a person may have to come and type."""
    key_encryption_key: SecretStr | None = None

    access_token_seconds: Annotated[int, Field(ge=10, le=3600)] = 300
    enrolment_burst: Burst = 100
    enrolment_per_second: PerSecond = 10.0
    access_burst: Burst = 200
    access_per_second: PerSecond = 50.0
    grant_burst: Burst = 30
    """Access tokens of one client; the three above count by address, these by signature."""
    grants_per_second: PerSecond = 1.0
    release_burst: Burst = 100
    """Secret keys that one client is given: each is a permanent entry of the audit log."""
    releases_per_second: PerSecond = 0.1

    def read_key_encryption_key(self) -> KeyEncryptionKey | None:
        return KeySource(
            file=self.key_encryption_key_file,
            command=self.key_encryption_key_command,
            variable=self.key_encryption_key,
            seconds=self.key_encryption_key_command_seconds,
        ).read()


class RootKeySettings(KeyServerSettings):
    """Of the command that changes the key-encryption key: the server's, and the new one's place."""

    new_key_encryption_key_file: Path | None = None
    new_key_encryption_key_command: Command = ()
    new_key_encryption_key: SecretStr | None = None

    def read_new_key_encryption_key(self) -> KeyEncryptionKey | None:
        return KeySource(
            file=self.new_key_encryption_key_file,
            command=self.new_key_encryption_key_command,
            variable=self.new_key_encryption_key,
            seconds=self.key_encryption_key_command_seconds,
        ).read()
