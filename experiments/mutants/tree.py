"""A copy of the working tree to mutate: the tree itself is never touched."""

import os
import py_compile
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from compileall import compile_dir
from contextlib import contextmanager
from pathlib import Path

from fedperm.services import programs

PACKAGES = (
    *("shared/public", "shared/secret", "shared/cli"),
    *(f"services/{program.name}" for program in programs()),
)


@contextmanager
def copied(root: Path) -> Iterator[Path]:
    """What git knows or would take in, as it is now."""
    with tempfile.TemporaryDirectory(prefix="fedperm-mutants-") as name:
        copy = Path(name).resolve()
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
            cwd=root,
            check=True,
            capture_output=True,
            text=True,
        )
        for path in filter(None, listed.stdout.split("\0")):
            if (root / path).is_file():
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / path, copy / path)
        # by their hash, as a mutant may have the length and the second of the one before
        mode = py_compile.PycInvalidationMode.CHECKED_HASH
        for package in PACKAGES:
            compile_dir(copy / package, quiet=1, invalidation_mode=mode)
        yield copy


def environment(copy: Path) -> dict[str, str]:
    """The copy's packages come before the installed ones; a fork needs no threads."""
    paths = [str(copy), *(str(copy / package) for package in PACKAGES)]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])]),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def run_session(copy: Path, output: Path, modules: list[str]) -> int:
    command = [sys.executable, "-m", "experiments.mutants.session", "--output", str(output)]
    return subprocess.run(  # noqa: S603
        [*command, *modules], cwd=copy, env=environment(copy), check=False
    ).returncode
