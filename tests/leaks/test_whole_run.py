"""After a whole run no secret is where it does not belong, and no log holds one.

One test: the run of real processes is the expensive part.
"""

import pytest

from tests.leaks.failures import provoke
from tests.leaks.scanner import reason_not_to_read
from tests.leaks.search import Search
from tests.leaks.whole_run import standing_run


def test_no_secret_is_where_it_does_not_belong_and_no_log_holds_one(tmp_path):
    with standing_run(tmp_path) as run:
        if reason := reason_not_to_read(run.world.aggregator.pid):
            pytest.skip(reason)
        outcomes = [report.outcome for report in run.rounds]
        search = Search(run)
        there = search.of_a_clients_memory()
        scans = search.of_the_aggregator() + search.of_the_key_server() + search.of_clients()
        statuses = provoke(run)
        scans += search.of_logs()
        logs = [search.log(name).read_text() for name in ("aggregator", "keyserver")]
    assert {outcome.epoch for outcome in outcomes} == {1, 2}
    assert len(run.known.randomness.shuffled) == 2 * len(outcomes)
    found = {"p of epoch 1", "q of epoch 2", "sealing key of ada", "p^2 of epoch 2"}
    assert found <= there.secrets
    assert [hit for scan in scans for hit in scan.hits] == []
    assert all(scan.octets > 1000 for scan in scans)
    assert set(statuses) == {401, 422, 500}
    assert all("Traceback" in log for log in logs)
