"""`python -m fedperm_keyserver.schema`: which version the database has; up; down."""

import sys

from fedperm.schema_command import run_schema_command
from fedperm_keyserver.migrations import SCHEMA
from fedperm_keyserver.settings import KeyServerSettings

if __name__ == "__main__":
    sys.exit(run_schema_command(KeyServerSettings, SCHEMA))
