"""Sealed checkpoints for late joiners, and the statements of those who vouch for them."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

NAME = sa.String(63)
DIGEST = sa.String(64)


def upgrade() -> None:
    op.create_table(
        "checkpoints",
        sa.Column("run", NAME, nullable=False),
        *_checkpoint(),
        sa.PrimaryKeyConstraint("run"),
        sa.ForeignKeyConstraint(["run"], ["runs.run"]),
    )
    op.create_table(
        "checkpoint_statements",
        sa.Column("run", NAME, nullable=False),
        sa.Column("client", NAME, nullable=False),
        *_checkpoint(),
        sa.Column("statement", sa.Text, nullable=False),
        sa.Column("certificate", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run", "client", "round"),
    )


def downgrade() -> None:
    """The octets of a checkpoint are swept at the next start."""
    op.drop_table("checkpoint_statements")
    op.drop_table("checkpoints")


def _checkpoint() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("lineage", DIGEST, nullable=False),
        sa.Column("sha256", DIGEST, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
    )
