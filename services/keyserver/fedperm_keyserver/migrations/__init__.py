"""How the key server's tables came to be, one revision after the other.

A released revision is never changed: databases have it behind them. Tables are written out in it,
not taken from `tables`, which shows the newest state only.
"""

from fedperm.schema import Schema
from fedperm.services import KEY_SERVER

SCHEMA = Schema(KEY_SERVER.name, __name__)
