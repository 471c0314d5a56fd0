"""Fails."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table("shelves", sa.Column("name", sa.String, primary_key=True))
    raise RuntimeError
