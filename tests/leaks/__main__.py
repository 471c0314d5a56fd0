"""`python -m tests.leaks [KEY_BITS]`: a whole run, searched; prints what was looked at."""

import sys
import tempfile
from pathlib import Path

from tests.leaks.failures import provoke
from tests.leaks.search import Search
from tests.leaks.whole_run import KEY_BITS, standing_run


def main() -> int:
    key_bits = int(sys.argv[1]) if len(sys.argv) > 1 else KEY_BITS
    with (
        tempfile.TemporaryDirectory() as folder,
        standing_run(Path(folder), key_bits, ("ada", "ben", "cleo")) as run,
    ):
        rounds = len(run.rounds)
        search = Search(run)
        control = search.of_a_clients_memory()
        scans = [*search.of_the_aggregator(), search.of_the_aggregators_memory()]
        scans += search.of_the_key_server() + search.of_clients()
        provoke(run)
        scans += search.of_logs()
    sys.stdout.write(f"{rounds} rounds of 4 clients under 2 keys of {key_bits} bits\n")
    for scan in scans:
        sys.stdout.write(f"{scan}\n")
    sys.stdout.write(f"for comparison, where the keys must be: a client\n{control}\n")
    hits = sum(len(scan.hits) for scan in scans)
    sys.stdout.write(f"{sum(scan.octets for scan in scans):,} octets, {hits} hits\n")
    return 1 if hits or not control.hits else 0


if __name__ == "__main__":
    sys.exit(main())
