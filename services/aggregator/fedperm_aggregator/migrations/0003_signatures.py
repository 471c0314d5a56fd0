"""Documents are signed by their run's operator; those that are here already were not."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    with op.batch_alter_table("runs") as table:
        table.add_column(sa.Column("signature", sa.Text, nullable=False, server_default=""))
    with op.batch_alter_table("runs") as table:
        table.alter_column("signature", server_default=None)


def downgrade() -> None:
    with op.batch_alter_table("runs") as table:
        table.drop_column("signature")
