"""Control groups of both versions, as the kernel writes them."""

import subprocess

import pytest

from experiments.load.comparison import is_independent, memory_ratio
from experiments.load.errors import LoadError
from experiments.load.summary import Watched, summarise
from experiments.load.usage import INTERVAL_SECONDS, SAMPLES, Sample, read_sample, usage_of
from tests.load.stories import ALL_DONE, MIB, SETTING, TWO_ROUNDS, told
from tests.load.stories import SAMPLES as TAKEN

VERSION_1 = (
    "cpuacct.usage 1500000000 cache 106496 rss 364544 shmem 0 inactive_file 9 "
    "hierarchical_memory_limit 9223372036854771712 total_cache 106496 total_rss 364544 "
    "total_rss_huge 0 total_shmem 4096 total_mapped_file 49152"
)
VERSION_2 = (
    "usage_usec 1500000 user_usec 1000000 system_usec 500000 nr_periods 0 "
    "anon 364544 file 106496 kernel 20480 shmem 4096 file_mapped 49152"
)


@pytest.mark.parametrize("line", [VERSION_1, VERSION_2])
def test_cpu_and_memory_without_page_cache(line):
    expected = Sample(at=12.0, cpu_seconds=1.5, memory_bytes=364544 + 4096)
    assert read_sample(line, 12.0) == expected


@pytest.mark.parametrize("line", ["", "cat: memory.stat: No such file", "usage_usec 15", "anon 3"])
def test_anything_else_is_an_error_and_not_zero(line):
    with pytest.raises(LoadError, match="control group"):
        read_sample(line, 12.0)


def test_too_few_samples_are_an_error():
    with pytest.raises(LoadError, match="1 samples"):
        usage_of(TAKEN[:1])


def test_the_shell_writes_a_line_a_sample(tmp_path):
    """On files laid out as in a container with version 2."""
    (tmp_path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n")
    (tmp_path / "memory.stat").write_text("anon 10\nfile 7\nshmem 5\n")
    script = SAMPLES.replace("/sys/fs/cgroup", str(tmp_path)).replace(str(INTERVAL_SECONDS), "0")
    with subprocess.Popen(["/bin/sh", "-c", script], stdout=subprocess.PIPE, text=True) as shell:
        lines = [shell.stdout.readline() for _ in range(2)]
        shell.kill()
    for line in lines:
        assert read_sample(line, 1.0) == Sample(at=1.0, cpu_seconds=1.5, memory_bytes=15)


def with_peak(mebibytes: int):
    samples = [*TAKEN, Sample(at=170.0, cpu_seconds=9.0, memory_bytes=mebibytes * MIB)]
    return summarise(SETTING, told(*TWO_ROUNDS), ALL_DONE, Watched(samples, TAKEN))


@pytest.mark.parametrize(
    ("fewer", "more", "independent"),
    [(100, 100, True), (100, 119, True), (100, 121, False), (100, 81, True), (120, 90, False)],
)
def test_memory_may_differ_by_a_fifth(fewer, more, independent):
    ratio = memory_ratio(with_peak(fewer), with_peak(more))
    assert ratio == more / fewer
    assert is_independent(ratio) is independent
