"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

NAME = sa.String(63)
DIGEST = sa.String(64)
STATE = sa.String(16)
ROW_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    _create_runs()
    _create_rounds()
    _create_updates()
    _create_jobs()
    _create_events()


def downgrade() -> None:
    op.drop_index("events_of_a_run", "events")
    for table in ("events", "jobs", "reports", "updates", "selections", "rounds"):
        op.drop_table(table)
    for table in ("participants", "key_epochs", "runs"):
        op.drop_table(table)


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("run", NAME, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
        sa.Column("sha256", DIGEST, nullable=False),
        sa.Column("rounds", sa.Integer, nullable=False),
        sa.Column("state", STATE, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("has_model", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("run"),
    )
    op.create_table(
        "key_epochs",
        sa.Column("run", NAME, nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.Column("received_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("run", "epoch"),
        sa.ForeignKeyConstraint(["run"], ["runs.run"]),
    )
    op.create_table(
        "participants",
        sa.Column("run", NAME, nullable=False),
        sa.Column("client", NAME, nullable=False),
        sa.Column("signing_key", sa.String(43), nullable=False),
        sa.Column("joined_at", sa.Double, nullable=False),
        sa.Column("last_seen_at", sa.Double, nullable=False),
        sa.Column("excluded", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("run", "client"),
        sa.ForeignKeyConstraint(["run"], ["runs.run"]),
    )


def _create_rounds() -> None:
    op.create_table(
        "rounds",
        sa.Column("run", NAME, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("state", STATE, nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("opened_at", sa.Double, nullable=False),
        sa.Column("deadline_at", sa.Double, nullable=False),
        sa.Column("extensions", sa.Integer, nullable=False),
        sa.Column("sealed_at", sa.Double),
        sa.Column("settled_at", sa.Double),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("aggregate_sha256", DIGEST),
        sa.Column("aggregate_size", sa.BigInteger),
        sa.Column("contributors", sa.Integer),
        sa.Column("folding_cpu", sa.Double, nullable=False),
        sa.Column("rerandomising_cpu", sa.Double, nullable=False),
        sa.Column("scrubbed", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("run", "number"),
        sa.ForeignKeyConstraint(["run"], ["runs.run"]),
    )
    op.create_table(
        "selections",
        sa.Column("run", NAME, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("client", NAME, nullable=False),
        sa.PrimaryKeyConstraint("run", "round", "client"),
    )


def _create_updates() -> None:
    op.create_table(
        "updates",
        sa.Column("run", NAME, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("client", NAME, nullable=False),
        sa.Column("sha256", DIGEST, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("manifest", sa.Text, nullable=False),
        sa.Column("state", STATE, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("received_at", sa.Double, nullable=False),
        sa.Column("norm_before", sa.Double),
        sa.Column("norm_after", sa.Double),
        sa.Column("bounded", sa.Boolean),
        sa.Column("cpu_seconds", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("run", "round", "client"),
    )
    op.create_table(
        "reports",
        sa.Column("run", NAME, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("client", NAME, nullable=False),
        sa.Column("report", sa.Text, nullable=False),
        sa.Column("received_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("run", "round", "client"),
    )


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("kind", STATE, nullable=False),
        sa.Column("run", NAME, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("client", NAME, nullable=False),
        sa.Column("owner", sa.String(32)),
        sa.Column("free_at", sa.Double, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("kind", "run", "round", "client"),
    )


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("id", ROW_NUMBER, nullable=False),
        sa.Column("run", NAME, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("event", sa.String(32), nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("client", NAME, nullable=False),
        sa.Column("details", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("events_of_a_run", "events", ["run", "id"])
