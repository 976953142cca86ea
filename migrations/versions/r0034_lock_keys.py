"""A secret for the keys of advisory locks, and rows for the engine's own locks, so that no stranger can take them.

Revision: 0034, after 0033.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Who installs the procedures draws the secret and fills the table."""
    for name in ("lock_secret", "ticket_secret"):
        op.execute(f"CREATE SEQUENCE howdah.{name} MINVALUE 0 START 1")
    op.create_table(
        "latches",
        sa.Column("name", sa.Text(collation="C"), nullable=False, comment="Name of the lock."),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_latches")),
        schema="howdah",
        comment="The engine's own locks: whoever has one holds its row's lock. No row is ever changed.",
    )


def downgrade() -> None:
    op.drop_table("latches", schema="howdah")
    op.execute("DROP SEQUENCE howdah.lock_secret, howdah.ticket_secret")
