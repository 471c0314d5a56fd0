"""Which code made the figures, when, and on which machine."""

from collections.abc import Iterator, Sequence

from experiments.paper.records import Origin, Record, ResultFile


def origins_table(files: Sequence[ResultFile]) -> Iterator[str]:
    yield "| file | measurements | finished | CPU minutes | commit | command | machine | versions |"
    yield "|---|---|---|---|---|---|---|---|"
    for file in files:
        for number, origin in enumerate(file.origins):
            records = [record for record in file.records if record.origin == number]
            yield _line(file.part, origin, records)


def _line(part: str, origin: Origin, records: Sequence[Record]) -> str:
    finished = sorted(record.finished_at[:16].replace("T", " ") for record in records)
    versions = ", ".join(f"{name} {version}" for name, version in origin.versions.items())
    cells = [
        f"`{part}.json`",
        str(len(records)),
        f"{finished[0]} to {finished[-1]} UTC",
        f"{sum(record.cpu_seconds for record in records) / 60:.1f}",
        origin.commit,
        f"`{origin.command}`",
        f"{origin.cores} cores, {origin.processor}",
        versions,
    ]
    return f"| {' | '.join(cells)} |"
