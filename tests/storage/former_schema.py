"""A schema as a program knew it that was released before the newest revisions."""

from dataclasses import dataclass

from fedperm.schema import Schema


@dataclass(frozen=True)
class FormerSchema(Schema):
    known: int = 1

    @property
    def versions(self) -> tuple[str, ...]:
        return super().versions[: self.known]
