"""Shelves, and books on them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "shelves",
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("width", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "books",
        sa.Column("title", sa.String, nullable=False),
        sa.Column("shelf", sa.String(63), nullable=False),
        sa.PrimaryKeyConstraint("title"),
        sa.ForeignKeyConstraint(["shelf"], ["shelves.name"]),
    )


def downgrade() -> None:
    op.drop_table("books")
    op.drop_table("shelves")
