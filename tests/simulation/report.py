"""The figures of a simulation, for people and as a file."""

import json
from pathlib import Path

from tests.simulation.tally import Tally

ZEROS = ("lost", "double", "second release")
"""What the product promises never happens."""


def page(tally: Tally, seconds: float) -> str:
    lines = [
        f"sequences       {tally.sequences:,} in {seconds:.0f} s",
        f"operations      {tally.operations:,}: {tally.steps:,} steps of clients, "
        f"{tally.ticks:,} ticks of the aggregator, {tally.requests:,} requests",
        f"faults          {tally.faults.total():,} of {len(tally.faults)} kinds took effect",
        *(f"  {count:>7,}  {kind}" for kind, count in tally.faults.most_common()),
        f"crash points    parties ended at {len(tally.ends)} of the {len(tally.moments)} that "
        "were passed",
        f"rounds          {tally.rounds['published']:,} published and checked, "
        f"{tally.rounds['aborted']:,} aborted",
        *(f"{name:<15} {tally.failures[name]}" for name in ZEROS),
        f"other failures  {sum(n for kind, n in tally.failures.items() if kind not in ZEROS)}",
    ]
    return "\n".join(lines)


def save(path: Path, tally: Tally, seconds: float, failed_seeds: list[int]) -> None:
    path.parent.mkdir(exist_ok=True)
    facts = {"seconds": round(seconds), "failed_seeds": failed_seeds, **tally.as_json()}
    path.write_text(json.dumps(facts, indent=2) + "\n")
