"""The role that holds each named lease.

Revision: 0031, after 0030.
"""

from __future__ import annotations

from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Who holds a lease now acquires it anew: nobody knows its role."""
    op.execute("""
        ALTER TABLE howdah.lock ADD COLUMN held_as text;
        COMMENT ON COLUMN howdah.lock.held_as IS 'The role that acquired it; no other keeps or releases it. NULL: nobody holds it.';
        UPDATE howdah.lock SET holder = NULL, expires_at = NULL
    """)


def downgrade() -> None:
    op.execute("ALTER TABLE howdah.lock DROP COLUMN held_as")
