"""Queues and topics that stamp each message with its sender's role.

Revision: 0037, after 0036.
"""

from __future__ import annotations

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """None does."""
    op.execute("""
        ALTER TABLE howdah.destinations ADD COLUMN stamp_user boolean DEFAULT false NOT NULL;
        COMMENT ON COLUMN howdah.destinations.stamp_user IS
            'True: each message sent here gets the role of its sender in the header JMSXUserID.'
    """)


def downgrade() -> None:
    op.execute("ALTER TABLE howdah.destinations DROP COLUMN stamp_user")
