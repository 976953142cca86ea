"""Numbers of consumers and locks begin anew when they are used up.

Revision: 0040, after 0039.
"""

from __future__ import annotations

from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A rollback does not give a number back: who opens consumers and rolls back for some days would leave none to anybody."""
    for table in ("consumers", "lock"):
        op.execute(f"ALTER TABLE howdah.{table} ALTER COLUMN id SET CYCLE")


def downgrade() -> None:
    for table in ("consumers", "lock"):
        op.execute(f"ALTER TABLE howdah.{table} ALTER COLUMN id SET NO CYCLE")
