"""The two settings of the paper's experiments: d = 7850, T = 50, total (4, 1e-5)."""

from fedperm.windows import Geometry

LIGHT = Geometry(d=7850, k1=400, k2=1)
HEAVY = Geometry(d=7850, k1=800, k2=10)
ROUNDS = 50
EPSILON = 4.0
DELTA = 1e-5
