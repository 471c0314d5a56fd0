"""`python -m fedperm_aggregator.schema`: which version the database has; up; down."""

import sys

from fedperm.schema_command import run_schema_command
from fedperm_aggregator.migrations import SCHEMA
from fedperm_aggregator.settings import AggregatorSettings

if __name__ == "__main__":
    sys.exit(run_schema_command(AggregatorSettings, SCHEMA))
