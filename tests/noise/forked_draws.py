"""A program: forks children that draw noise, and prints each process's draws on a line."""

import os
import sys

from fedperm.noise.law import GridLaplace, NoiseSampler
from fedperm.noise.opendp_sampler import OpenDPSampler
from fedperm.noise.table_sampler import TableSampler
from fedperm.randomness import from_operating_system

SAMPLERS = {"table": TableSampler, "opendp": OpenDPSampler}


def main(sampler: NoiseSampler, children: int) -> None:
    randomness = from_operating_system()
    sampler.draw(10, randomness)  # both generators have been used before the fork
    pids = []
    for _ in range(children):
        pid = os.fork()
        if pid == 0:
            break
        pids.append(pid)
    line = " ".join(map(str, sampler.draw(64, randomness))) + "\n"
    os.write(sys.stdout.fileno(), line.encode())
    for pid in pids:
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main(SAMPLERS[sys.argv[1]](GridLaplace(100.0, 256, 800.5)), children=6)
