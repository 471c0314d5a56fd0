"""Rounds have phases, and clients submit more than updates.

A round says in which phase it is and what that collects; selections, submissions (`updates` before)
and the jobs that check them have a kind.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

NAME = sa.String(63)
DIGEST = sa.String(64)
STATE = sa.String(16)
WORD = sa.String(31)
UPDATE = "update"

ROUNDS = sa.table("rounds", *map(sa.column, ("state", "phase", "collects")))
JOBS = sa.table("jobs", *map(sa.column, ("kind", "submission")))
EVENTS = sa.table("events", sa.column("event"))
RENAMED = {"update-stored": "submission-stored", "update-checked": "submission-checked"}
PLACE = ("run", "round", "client")
REST = (
    "sha256",
    "size",
    "manifest",
    "state",
    "reason",
    "received_at",
    "norm_before",
    "norm_after",
    "bounded",
    "cpu_seconds",
)


def upgrade() -> None:
    _add_words("rounds", "phase", "collects")
    for state, phase, collects in (("open", "collect", UPDATE), ("sealed", "fold", "")):
        in_state = sa.update(ROUNDS).where(ROUNDS.c.state == state)
        op.execute(in_state.values(phase=phase, collects=collects))
    _add_words("jobs", "submission")
    op.execute(sa.update(JOBS).where(JOBS.c.kind == "check").values(submission=UPDATE))
    # not renamed: PostgreSQL's name of the primary key would stay behind
    _create_selections("former_selections")
    _copy("selections", "former_selections", PLACE)
    op.drop_table("selections")
    _create_selections("selections", sa.Column("kind", WORD, nullable=False))
    _copy("former_selections", "selections", PLACE, kind=UPDATE)
    op.drop_table("former_selections")
    _create_submissions("submissions", sa.Column("kind", WORD, nullable=False))
    _copy("updates", "submissions", (*PLACE, *REST), kind=UPDATE)
    op.drop_table("updates")
    for before, after in RENAMED.items():
        op.execute(sa.update(EVENTS).where(EVENTS.c.event == before).values(event=after))


def downgrade() -> None:
    """Only updates were known then: what else was submitted, and is to be checked, stays behind."""
    of_others = sa.and_(JOBS.c.kind == "check", JOBS.c.submission != UPDATE)
    op.execute(sa.delete(JOBS).where(of_others))
    for before, after in RENAMED.items():
        op.execute(sa.update(EVENTS).where(EVENTS.c.event == after).values(event=before))
    _create_selections("later_selections")
    _copy("selections", "later_selections", PLACE, of_kind=UPDATE)
    op.drop_table("selections")
    _create_selections("selections")
    _copy("later_selections", "selections", PLACE)
    op.drop_table("later_selections")
    _create_submissions("updates")
    _copy("submissions", "updates", (*PLACE, *REST), of_kind=UPDATE)
    op.drop_table("submissions")
    with op.batch_alter_table("jobs") as table:
        table.drop_column("submission")
    with op.batch_alter_table("rounds") as table:
        table.drop_column("phase")
        table.drop_column("collects")


def _add_words(name: str, *columns: str) -> None:
    """Empty in the rows that are there, and without a default afterwards."""
    with op.batch_alter_table(name) as table:
        for column in columns:
            table.add_column(sa.Column(column, WORD, nullable=False, server_default=""))
    with op.batch_alter_table(name) as table:
        for column in columns:
            table.alter_column(column, server_default=None)


def _create_selections(name: str, *kind: sa.Column[str]) -> None:
    op.create_table(
        name,
        sa.Column("run", NAME, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        *kind,
        sa.Column("client", NAME, nullable=False),
        sa.PrimaryKeyConstraint("run", "round", *(column.name for column in kind), "client"),
    )


def _create_submissions(name: str, *kind: sa.Column[str]) -> None:
    op.create_table(
        name,
        sa.Column("run", NAME, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        *kind,
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
        sa.PrimaryKeyConstraint("run", "round", *(column.name for column in kind), "client"),
    )


def _copy(
    source: str, target: str, columns: tuple[str, ...], kind: str = "", of_kind: str = ""
) -> None:
    """All rows, with a `kind` if one is given; or those `of_kind`, without it."""
    rows = sa.table(source, *map(sa.column, {*columns, *(["kind"] if of_kind else [])}))
    names, query = list(columns), sa.select(*(rows.c[column] for column in columns))
    if kind:
        names, query = [*names, "kind"], query.add_columns(sa.literal(kind))
    if of_kind:
        query = query.where(rows.c.kind == of_kind)
    into = sa.table(target, *map(sa.column, names))
    op.execute(sa.insert(into).from_select(names, query))
