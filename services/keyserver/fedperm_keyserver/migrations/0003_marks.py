"""Rows that decide who gets a secret key are marked, and entries of the audit log say who asked.

Marks need the key-encryption key, which a revision does not have: the key server makes them when it
is first started with it (`integrity`).
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

MARKED = ("keys", "epochs", "enrolment_tokens", "clients", "audit_entries")


def upgrade() -> None:
    op.create_table(
        "integrity_key",
        sa.Column("id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("wrapped", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("id = 1"),
        sa.PrimaryKeyConstraint("id"),
    )
    for name in MARKED:
        op.add_column(name, sa.Column("mac", sa.LargeBinary))
    for column in ("actor", "address"):
        op.add_column("audit_entries", sa.Column(column, sa.String))


def downgrade() -> None:
    """An older key server does not know the marks, and what it writes has none: afterwards there is
    no way up but with a copy from before."""
    for column in ("address", "actor"):
        op.drop_column("audit_entries", column)
    for name in reversed(MARKED):
        op.drop_column(name, "mac")
    op.drop_table("integrity_key")
