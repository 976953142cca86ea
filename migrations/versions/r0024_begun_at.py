"""Say of attempts what their time is: that of the call that began them, by which they are in doubt for ten seconds.

Revision: 0024, after 0023.
"""

from __future__ import annotations

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Put it right."""
    op.execute(
        "COMMENT ON COLUMN howdah.attempts.begun_at IS 'When the attempt was begun; it is committed before its handler begins.'"
    )


def downgrade() -> None:
    """Say what was said before."""
    op.execute(
        "COMMENT ON COLUMN howdah.attempts.begun_at IS 'When the attempt was committed, before its handler began.'"
    )
