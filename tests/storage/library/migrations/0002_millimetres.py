"""Widths are fractions, in a column of another name."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    with op.batch_alter_table("shelves") as shelves:
        shelves.alter_column("width", new_column_name="width_mm", type_=sa.Double)


def downgrade() -> None:
    with op.batch_alter_table("shelves") as shelves:
        shelves.alter_column("width_mm", new_column_name="width", type_=sa.Integer)
