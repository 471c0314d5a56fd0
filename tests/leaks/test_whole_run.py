"""After a whole run no secret is where it does not belong, and no log holds one.

One run: the real processes are the expensive part.
"""

import pytest

from tests.leaks.failures import provoke
from tests.leaks.scanner import Scan, reason_not_to_read
from tests.leaks.search import Search
from tests.leaks.whole_run import standing_run

WHERE_KEYS_MUST_BE = {"p of epoch 1", "q of epoch 2", "sealing key of ada", "p^2 of epoch 2"}


@pytest.mark.system
def test_no_secret_is_where_it_does_not_belong_and_no_log_holds_one(tmp_path):
    with standing_run(tmp_path) as run:
        outcomes = [report.outcome for report in run.rounds]
        search = Search(run)
        unread = reason_not_to_read(run.world.aggregator.pid)
        scans = [] if unread else [memory_of_the_aggregator(search)]
        scans += search.of_the_aggregator() + search.of_the_key_server() + search.of_clients()
        statuses = provoke(run)
        scans += search.of_logs()
        logs = [search.log(name).read_text() for name in ("aggregator", "keyserver")]
    assert {outcome.epoch for outcome in outcomes} == {1, 2}
    assert len(run.known.randomness.shuffled) == 2 * len(outcomes)
    assert [hit for scan in scans for hit in scan.hits] == []
    assert all(scan.octets > 1000 for scan in scans)
    assert set(statuses) == {401, 422, 500}
    assert all("Traceback" in log for log in logs)
    if unread:
        pytest.skip(f"files, databases and logs hold nothing; memory was not searched: {unread}")


def memory_of_the_aggregator(search: Search) -> Scan:
    """By a search that finds keys where they must be."""
    assert search.of_a_clients_memory().secrets >= WHERE_KEYS_MUST_BE
    return search.of_the_aggregators_memory()
