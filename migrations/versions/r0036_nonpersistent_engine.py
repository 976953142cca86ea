"""An engine in which every message is non-persistent.

Revision: 0036, after 0035.
"""

from __future__ import annotations

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The engine stays persistent, and each queue and topic what it was."""
    op.execute("""
        ALTER TABLE howdah.engine ADD COLUMN persistent boolean DEFAULT true NOT NULL;
        COMMENT ON COLUMN howdah.engine.persistent IS
            'False: every message sent is non-persistent, whatever its sender, queue or topic says.';
        ALTER TABLE howdah.destinations ADD COLUMN own_persistent boolean DEFAULT true NOT NULL;
        COMMENT ON COLUMN howdah.destinations.own_persistent IS
            'The option persistent as it was given; persistent is what holds, the engine''s false included.';
        UPDATE howdah.destinations SET own_persistent = false WHERE NOT persistent
    """)


def downgrade() -> None:
    op.execute("""
        ALTER TABLE howdah.destinations DROP COLUMN own_persistent;
        ALTER TABLE howdah.engine DROP COLUMN persistent
    """)
