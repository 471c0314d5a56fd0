"""Result files: what was measured, under which settings, by which code, on which machine."""

from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from experiments.paper.measurement import Measurement
from fedperm.errors import ParameterError

COMMITTED = Path(__file__).parents[1] / "results"


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Origin(_Form):
    """Where figures come from. `commit` ends in + where files had been changed since."""

    commit: str
    command: str
    cores: int
    processor: str
    versions: Mapping[str, str]


class Record(_Form):
    """`origin` is a position in the file's list."""

    name: str
    settings: Mapping[str, JsonValue]
    result: Mapping[str, JsonValue]
    finished_at: str
    cpu_seconds: float
    origin: int


class ResultFile(_Form):
    part: str
    origins: Sequence[Origin] = ()
    records: Sequence[Record] = ()

    def holds(self, measurement: Measurement) -> bool:
        """Whether it was measured under these very settings."""
        name, settings = measurement.name, measurement.settings
        return any(record.name == name and record.settings == settings for record in self.records)

    def origin_of(self, record: Record) -> Origin:
        return self.origins[record.origin]

    def of_commit(self, commit: str) -> "ResultFile":
        """Only what this code measured."""
        return self._of(pair for pair in self._pairs() if pair[1].commit == commit)

    def of_names(self, names: Set[str]) -> "ResultFile":
        """Only what has one of these names."""
        return self._of(pair for pair in self._pairs() if pair[0].name in names)

    def with_record(self, record: Record, origin: Origin) -> "ResultFile":
        """In place of an older one of that name."""
        kept = [pair for pair in self._pairs() if pair[0].name != record.name]
        return self._of([*kept, (record, origin)])

    def _pairs(self) -> list[tuple[Record, Origin]]:
        return [(record, self.origin_of(record)) for record in self.records]

    def _of(self, pairs: Iterable[tuple[Record, Origin]]) -> "ResultFile":
        """By name. Origins without records are dropped."""
        ordered = sorted(pairs, key=lambda pair: pair[0].name)
        origins = list(dict.fromkeys(origin.model_dump_json() for _, origin in ordered))
        return ResultFile(
            part=self.part,
            origins=[Origin.model_validate_json(text) for text in origins],
            records=[
                record.model_copy(update={"origin": origins.index(origin.model_dump_json())})
                for record, origin in ordered
            ],
        )


def read(folder: Path, part: str) -> ResultFile:
    """Empty if there is none yet."""
    path = folder / f"{part}.json"
    if not path.exists():
        return ResultFile(part=part)
    try:
        return ResultFile.model_validate_json(path.read_text())
    except ValidationError as error:
        raise ParameterError(
            f"{path} is damaged or of another version: {error.errors()[0]['msg']}",
            "take it from git again, or remove it to measure anew",
        ) from None


def write(folder: Path, results: ResultFile) -> None:
    """Replaced as a whole: whoever stops the program leaves a whole file. One record a line."""
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / f"{results.part}.json.new"
    new.write_text(_text(results))
    new.replace(folder / f"{results.part}.json")


def _text(results: ResultFile) -> str:
    origins, records = (
        ",\n".join(one.model_dump_json() for one in some)
        for some in (results.origins, results.records)
    )
    return (
        f'{{"part": "{results.part}",\n"origins": [\n{origins}\n],\n"records": [\n{records}\n]}}\n'
    )
