"""The engine's own queues keep a full journal: what is put there is on record, whoever puts it.

Revision: 0032, after 0031.
"""

from __future__ import annotations

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """An audit trusts their record from now on; what was put there before is unrecorded, not forged."""
    op.execute("""
        UPDATE howdah.destinations SET journal_level = 'full', journal_level_at = clock_timestamp()
        WHERE is_system AND dropped_at IS NULL AND journal_level <> 'full'
    """)


def downgrade() -> None:
    op.execute(
        "UPDATE howdah.destinations SET journal_level = 'exits', journal_level_at = clock_timestamp() WHERE is_system"
    )
