"""What is put under load, and how docker-compose.yml is told."""

from typing import Annotated

from pydantic import Field

from fedperm.services import SERVICES
from fedperm.wire.message import Message

Count = Annotated[int, Field(ge=1)]


class Setting(Message):
    """`parameters` is d. All clients take part in every round."""

    clients: Annotated[int, Field(ge=2)]
    rounds: Count
    k1: Count
    k2: Count
    parameters: Count
    deadline_seconds: Annotated[float, Field(gt=0)]

    def variables(self) -> dict[str, str]:
        """Ports are Docker's choice: another federation may run on this machine."""
        return {
            "ROUNDS": str(self.rounds),
            "K1": str(self.k1),
            "K2": str(self.k2),
            "PARAMETERS": str(self.parameters),
            "START_WITH": str(self.clients),
            "QUORUM": str(self.clients // 2 + 1),
            "SHARDS": str(self.clients),
            "MOST_CLIENTS": str(self.clients),
            "DEADLINE_SECONDS": str(self.deadline_seconds),
            **{f"{service.name.upper()}_PORT": "0" for service in SERVICES.values()},
        }
