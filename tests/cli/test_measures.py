"""Numbers for people."""

import pytest

from fedperm_cli.measures import as_bytes, as_seconds, as_share, counted


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (20_500, "20.5 kB"), (999_600, "1 MB"),
     (1_670_000, "1.67 MB"), (5e9, "5 GB"), (7e16, "7e+04 TB")],
)  # fmt: skip
def test_bytes(count, words):
    assert as_bytes(count) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0.00 s"), (9.99, "9.99 s"), (12.3, "12 s"), (150, "2.5 min"), (70_884, "19.7 h"),
     (864_000, "10.0 days")],
)  # fmt: skip
def test_seconds(seconds, words):
    assert as_seconds(seconds) == words


def test_shares_and_counts():
    assert (as_share(None), as_share(0.7251)) == ("-", "72.5%")
    assert (counted(1, "client"), counted(2000, "client")) == ("1 client", "2,000 clients")
