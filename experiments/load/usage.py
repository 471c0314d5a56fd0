"""CPU and memory of a container, from its own control group.

The kernel counts CPU time exactly. Memory is anonymous and shared memory: what the processes hold
themselves. The page cache is left out, since the kernel takes it back as it likes; so peaks of
`docker stats`, which counts a part of it, may be higher.
"""

from collections.abc import Sequence

from experiments.load.errors import LoadError
from fedperm.wire.message import Message

INTERVAL_SECONDS = 0.5

SAMPLES = f"""
cd /sys/fs/cgroup
if [ -f cpu.stat ]; then sample() {{ cat cpu.stat memory.stat; }}
else sample() {{ echo cpuacct.usage; cat cpuacct/cpuacct.usage memory/memory.stat; }}
fi
while :; do echo $(sample); sleep {INTERVAL_SECONDS}; done
"""
"""For `sh` in the container: a line of names and numbers a sample, of either version of cgroups."""

_NEEDED = ("usage_usec", 1e-6, "anon", "shmem"), ("cpuacct.usage", 1e-9, "total_rss", "total_shmem")
"""Of version 2 and of version 1: CPU time, its unit, anonymous and shared memory."""


class Sample(Message):
    """`at` is POSIX time; CPU seconds count from the container's start."""

    at: float
    cpu_seconds: float
    memory_bytes: int


class Usage(Message):
    """CPU from the container's start to the last sample; `idle_memory_bytes` is the first one's."""

    cpu_seconds: float
    idle_memory_bytes: int
    peak_memory_bytes: int
    interval_seconds: float


def read_sample(line: str, at: float) -> Sample:
    words = line.split()
    numbers = dict(zip(words[::2], words[1::2], strict=False))
    for cpu, unit, anonymous, shared in _NEEDED:
        if {cpu, anonymous, shared} <= numbers.keys():
            memory = int(numbers[anonymous]) + int(numbers[shared])
            return Sample(at=at, cpu_seconds=int(numbers[cpu]) * unit, memory_bytes=memory)
    raise LoadError(
        f"the container's control group says {line[:200]!r}",
        "it needs the cpu and memory controllers: see docker info",
    )


def usage_of(samples: Sequence[Sample]) -> Usage:
    if len(samples) < 2:
        raise LoadError(f"{len(samples)} samples of a container", "did it start? see the log")
    return Usage(
        cpu_seconds=samples[-1].cpu_seconds,
        idle_memory_bytes=samples[0].memory_bytes,
        peak_memory_bytes=max(sample.memory_bytes for sample in samples),
        interval_seconds=INTERVAL_SECONDS,
    )
