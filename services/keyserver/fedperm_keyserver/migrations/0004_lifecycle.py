"""Signing identities succeed each other, epochs can be destroyed, and a client has a first epoch.

That of older clients is what their enrolment's time says: the newest that there was then.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "identities",
        sa.Column("generation", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("signing_key", sa.String, nullable=False),
        sa.Column("wrapped", sa.LargeBinary, nullable=False),
        sa.Column("succession", sa.String),
        sa.Column("mac", sa.LargeBinary),
        sa.PrimaryKeyConstraint("generation"),
        sa.UniqueConstraint("signing_key"),
    )
    op.execute(
        "INSERT INTO identities (generation, signing_key, wrapped) "
        "SELECT id, signing_key, wrapped FROM identity"
    )
    op.drop_table("identity")
    op.add_column("epochs", sa.Column("destroyed_at", sa.Double))
    op.add_column("clients", sa.Column("first_epoch", sa.Integer))
    op.execute(
        "UPDATE clients SET first_epoch = (SELECT max(number) FROM epochs "
        "WHERE epochs.key = clients.key AND epochs.created_at <= clients.enrolled_at)"
    )


def downgrade() -> None:
    """The newest identity is the one that is left: whoever believes an older one has to enrol anew.
    Secrets that say by which key they are wrapped are not opened by older programs."""
    op.create_table(
        "identity",
        sa.Column("id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("signing_key", sa.String, nullable=False),
        sa.Column("wrapped", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("id = 1"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.execute(
        "INSERT INTO identity (id, signing_key, wrapped) SELECT 1, signing_key, wrapped "
        "FROM identities WHERE generation = (SELECT max(generation) FROM identities)"
    )
    op.drop_table("identities")
    op.drop_column("epochs", "destroyed_at")
    op.drop_column("clients", "first_epoch")
