"""The tests' own processes have crash points compiled in, so that a test may watch them; the
processes that tests start have none unless a test says so."""

import os

os.environ["FEDPERM_TEST_CRASH_POINT"] = "watch"
from fedperm import crash_points

del os.environ[crash_points.VARIABLE]
