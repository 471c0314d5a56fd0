"""Worker processes: big-integer arithmetic holds the interpreter lock, so threads do not help."""

import multiprocessing
import os
from concurrent.futures import Executor, ProcessPoolExecutor


def process_pool(processes: int | None = None) -> Executor:
    """One worker per core by default; started fresh, so that no lock or secret is inherited."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(processes or os.cpu_count() or 1, mp_context=context)
