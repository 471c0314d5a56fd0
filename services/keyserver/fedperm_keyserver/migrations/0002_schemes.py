"""A key says its scheme, the scheme's parameters, and who holds it; it had `key_bits` before."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

KEYS = sa.table(
    "keys",
    sa.column("name", sa.String),
    sa.column("key_bits", sa.Integer),
    sa.column("parameters", sa.JSON),
)


def upgrade() -> None:
    with op.batch_alter_table("keys") as table:
        table.add_column(sa.Column("scheme", sa.String, nullable=False, server_default="paillier"))
        table.add_column(sa.Column("parameters", sa.JSON, nullable=False, server_default="{}"))
        table.add_column(sa.Column("keys", sa.String, nullable=False, server_default="shared"))
    connection = op.get_bind()
    for name, key_bits in connection.execute(sa.select(KEYS.c.name, KEYS.c.key_bits)).all():
        parameters = {"key_bits": key_bits}
        connection.execute(sa.update(KEYS).where(KEYS.c.name == name).values(parameters=parameters))
    with op.batch_alter_table("keys") as table:
        table.drop_column("key_bits")
        for column in ("scheme", "parameters", "keys"):
            table.alter_column(column, server_default=None)


def downgrade() -> None:
    """Keys of other schemes did not exist then: whoever has one is not taken back."""
    with op.batch_alter_table("keys") as table:
        table.add_column(sa.Column("key_bits", sa.Integer, nullable=False, server_default="0"))
    connection = op.get_bind()
    for name, parameters in connection.execute(sa.select(KEYS.c.name, KEYS.c.parameters)).all():
        key_bits = parameters["key_bits"]
        connection.execute(sa.update(KEYS).where(KEYS.c.name == name).values(key_bits=key_bits))
    with op.batch_alter_table("keys") as table:
        for column in ("scheme", "parameters", "keys"):
            table.drop_column(column)
        table.alter_column("key_bits", server_default=None)
