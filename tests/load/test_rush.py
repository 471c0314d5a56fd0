"""Figures of a rush by hand-worked numbers, and a small rush that is real."""

import os
import time
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from experiments.rush.page import page
from experiments.rush.report import RushReport
from experiments.rush.rush import rush
from experiments.rush.scene import make_scene
from experiments.rush.setting import Setting
from experiments.rush.stopwatch import News, Seen, Timing
from experiments.rush.summary import Told, figures, shortcomings, stall_in, summarise
from experiments.rush.usage import Usage, usage_of
from fedperm.web.stalls import Stall
from fedperm_cli.pages import show

SETTING = Setting(
    idle=10,
    uploads=3,
    rounds=2,
    seconds=120.0,
    parameters=40,
    k1=10,
    k2=2,
    value_bits=8,
    laplace_scale=0.0,
    key_bits=512,
    workers=1,
    arrive_seconds=0.1,
    beat_seconds=0.5,
)
METRICS = """# TYPE fedperm_event_loop_longest_stall_seconds gauge
fedperm_event_loop_longest_stall_seconds{share="all"} 0.07
fedperm_event_loop_longest_stall_seconds{share="own"} 0.04
fedperm_event_loop_longest_stall_seconds{share="loop"} 0.03
"""
CROWD = Seen(
    timings=(
        Timing("join", at=100.0, seconds=0.1),
        Timing("join", at=100.0, seconds=0.3),
        Timing("join", at=100.5, seconds=9.0, failure="no answer"),
        Timing("long poll", at=101.0, seconds=20.0),
    ),
    news=(News(7, at=109.0), News(1, at=110.5), News(1, at=111.5), News(2, at=121.0)),
    lag=Stall(0.5, 0.2, 0.1),
)
ONLOOKER = Seen(
    timings=(Timing("run", at=105.0, seconds=0.2), Timing("/livez", at=119.0, seconds=6.0)),
    news=(),
    lag=Stall(0.05, 0.01, 0.01),
)
TOLD = Told({1: 110.0, 2: 120.0}, METRICS)
USAGES = {"aggregator": Usage(12.5, 300, 200)}


def test_percentiles_are_linear_between_neighbours():
    shown = figures("x", [0.1, 0.2, 0.3, 0.4, 0.5], failed=2)
    assert (shown.requests, shown.failed, shown.p50, shown.longest) == (7, 2, 0.3, 0.5)
    assert shown.p99 == pytest.approx(0.496)  # 96 % of the way from the fourth to the fifth
    assert figures("x", [], failed=1).p99 is None


def test_the_figures_of_a_rush():
    report = summarise(SETTING, CROWD, ONLOOKER, TOLD, USAGES)
    assert report.seconds == 25.0  # 100 to 119 + 6
    assert report.requests_per_second == 6 / 25
    assert (report.failed, report.failures) == (1, ("1 x join: no answer",))
    by_name = {endpoint.name: endpoint for endpoint in report.endpoints}
    assert by_name["join"].p50 == pytest.approx(0.2)  # of the answers
    assert (by_name["join"].requests, by_name["join"].failed) == (3, 1)
    assert (by_name["long poll"].requests, by_name["long poll"].p50) == (1, None)
    assert (report.control.requests, report.control.longest) == (2, 6.0)
    assert (report.news.requests, report.news.p50, report.news.longest) == (3, 1.0, 1.5)
    assert report.aggregator_stall == stall_in(METRICS)
    assert (report.aggregator_stall.all, report.aggregator_stall.loop) == (0.07, 0.03)
    assert (report.crowd_lag.own, report.onlooker_lag.all) == (0.2, 0.05)
    assert report.processes[0].model_dump() == {
        "name": "aggregator",
        "cpu_seconds": 12.5,
        "peak_rss_bytes": 300,
        "peak_pss_bytes": 200,
    }
    assert RushReport.model_validate_json(report.model_dump_json()) == report


QUICK = replace(ONLOOKER, timings=(Timing("run", 105.0, 0.2),))
CALM = replace(CROWD, timings=CROWD.timings[:2])


def test_what_was_promised_and_what_is_lacking():
    assert shortcomings(summarise(SETTING, CALM, QUICK, TOLD, {})) == []
    (words,) = shortcomings(summarise(SETTING, CROWD, QUICK, TOLD, {}))
    assert words == "1 requests failed"
    (words,) = shortcomings(summarise(SETTING, CALM, ONLOOKER, TOLD, {}))
    assert "p99" in words
    (words,) = shortcomings(summarise(SETTING, CALM, QUICK, replace(TOLD, published_at={}), {}))
    assert words.startswith("0 of 2 rounds")
    late = METRICS.replace("0.04", "0.05")
    (words,) = shortcomings(summarise(SETTING, CALM, QUICK, replace(TOLD, metrics=late), {}))
    assert "held up" in words


def test_a_rush_in_which_nothing_was_asked_is_none():
    nobody = Seen((), (), Stall())
    report = summarise(SETTING, nobody, nobody, replace(TOLD, published_at={}), {})
    assert (report.seconds, report.requests_per_second) == (0.0, 0.0)
    assert len(shortcomings(report)) == 2


def test_the_kernel_tells_what_a_process_used(tmp_path):
    (tmp_path / "stat").write_text("7 (a name) with) " + "0 " * 11 + "150 50 0 0")
    (tmp_path / "status").write_text("VmRSS:\t 10 kB\nVmHWM:\t 20 kB\n")
    (tmp_path / "smaps_rollup").write_text("Rss: 9 kB\nPss: 3 kB\n")
    ticks = os.sysconf("SC_CLK_TCK")
    assert usage_of(tmp_path) == Usage(200 / ticks, 20 << 10, 3 << 10)
    assert usage_of(tmp_path).and_later(Usage(9.0, 1, 9 << 10)) == Usage(9.0, 20 << 10, 9 << 10)
    assert usage_of(Path("/proc/self")).cpu_seconds > 0


@pytest.mark.system
def test_a_small_rush(tmp_path, capsys):
    """All of it is real but the sizes."""
    setting = SETTING.model_copy(update={"rounds": 1})
    report = rush(make_scene(setting, time.time(), Random(1)), tmp_path)
    assert (report.failed, report.failures) == (0, ())
    assert report.rounds_published == 1
    counted = {endpoint.name: endpoint.requests for endpoint in report.endpoints}
    assert (counted["join"], counted["upload"], counted["report"]) == (13, 3, 13)
    assert {"heartbeat", "long poll", "run", "participants", "/metrics"} <= counted.keys()
    assert report.news.requests == 13
    assert report.aggregator_stall.all > 0
    assert {"aggregator", "crowd", "onlooker"} <= {process.name for process in report.processes}
    show(page(report))
    assert "10 clients wait, 3 upload at once, 1 of 1 rounds" in capsys.readouterr().out
