"""Numbers of cursors and listeners begin anew when they are used up.

Revision: 0042, after 0041.
"""

from __future__ import annotations

from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """As 0040: who subscribes, or ensures a listener, and rolls back for some days would leave no number to anybody."""
    for table in ("acks", "listeners"):
        op.execute(f"ALTER TABLE howdah.{table} ALTER COLUMN id SET CYCLE")


def downgrade() -> None:
    for table in ("acks", "listeners"):
        op.execute(f"ALTER TABLE howdah.{table} ALTER COLUMN id SET NO CYCLE")
