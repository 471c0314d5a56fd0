"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _create_keys()
    _create_clients()
    _create_audit()


def downgrade() -> None:
    op.drop_index("ix_used_assertions_forget_after", "used_assertions")
    op.drop_index("ix_enrolment_tokens_key", "enrolment_tokens")
    for table in ("audit_entries", "used_assertions", "clients", "enrolment_tokens"):
        op.drop_table(table)
    for table in ("epochs", "keys", "identity"):
        op.drop_table(table)


def _create_keys() -> None:
    op.create_table(
        "identity",
        sa.Column("id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("signing_key", sa.String, nullable=False),
        sa.Column("wrapped", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("id = 1"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "keys",
        sa.Column("name", sa.String, nullable=False),
        sa.Column("key_bits", sa.Integer, nullable=False),
        sa.Column("latest_epoch", sa.Integer, nullable=False),
        sa.Column("key_id", sa.String, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "epochs",
        sa.Column("key", sa.String, nullable=False),
        sa.Column("number", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("key_id", sa.String, nullable=False),
        sa.Column("signed_record", sa.String, nullable=False),
        sa.Column("wrapped", sa.LargeBinary, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("key", "number"),
        sa.ForeignKeyConstraint(["key"], ["keys.name"]),
        sa.UniqueConstraint("key_id"),
    )


def _create_clients() -> None:
    op.create_table(
        "enrolment_tokens",
        sa.Column("id", sa.String, nullable=False),
        sa.Column("key", sa.String, nullable=False),
        sa.Column("secret_sha256", sa.LargeBinary, nullable=False),
        sa.Column("uses", sa.Integer, nullable=False),
        sa.Column("used", sa.Integer, nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.Column("revoked", sa.Boolean, nullable=False),
        sa.Column("client", sa.String),
        sa.CheckConstraint("used <= uses"),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["key"], ["keys.name"]),
    )
    op.create_index("ix_enrolment_tokens_key", "enrolment_tokens", ["key"])
    op.create_table(
        "clients",
        sa.Column("key", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("token", sa.String, nullable=False),
        sa.Column("signing_key", sa.String, nullable=False),
        sa.Column("sealing_key", sa.String, nullable=False),
        sa.Column("enrolled_at", sa.Double, nullable=False),
        sa.Column("revoked_at", sa.Double),
        sa.Column("revoked_into", sa.Integer),
        sa.PrimaryKeyConstraint("key", "name"),
        sa.UniqueConstraint("key", "ordinal"),
        sa.UniqueConstraint("key", "signing_key"),
        sa.ForeignKeyConstraint(["key"], ["keys.name"]),
        sa.ForeignKeyConstraint(["token"], ["enrolment_tokens.id"]),
    )
    op.create_table(
        "used_assertions",
        sa.Column("key", sa.String, nullable=False),
        sa.Column("client", sa.String, nullable=False),
        sa.Column("jti", sa.String, nullable=False),
        sa.Column("forget_after", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("key", "client", "jti"),
        sa.ForeignKeyConstraint(["key", "client"], ["clients.key", "clients.name"]),
    )
    op.create_index("ix_used_assertions_forget_after", "used_assertions", ["forget_after"])


def _create_audit() -> None:
    op.create_table(
        "audit_entries",
        sa.Column("number", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("event", sa.String, nullable=False),
        sa.Column("details", sa.JSON, nullable=False),
        sa.Column("previous", sa.String, nullable=False),
        sa.Column("hash", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("previous"),
    )
