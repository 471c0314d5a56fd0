"""`python -m tests.adversary`: how many attacks are tried, and how they end."""

import sys
from collections import Counter

from tests.adversary.threat_table import VERDICTS, threats, tried, verdict_of


def main() -> int:
    ends = Counter(map(verdict_of, tried()))
    counts = ", ".join(f"{verdict} {ends[verdict]}" for verdict in VERDICTS)
    sys.stdout.write(f"{len(threats())} threats; attacks tried {ends.total()}: {counts}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
