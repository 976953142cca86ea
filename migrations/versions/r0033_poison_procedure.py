"""A queue's own poison procedure.

Revision: 0033, after 0032.
"""

from __future__ import annotations

from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """No queue has one."""
    op.execute("""
        ALTER TABLE howdah.destinations ADD COLUMN poison_procedure text, ADD COLUMN poison_procedure_owner text;
        COMMENT ON COLUMN howdah.destinations.poison_procedure IS
            'Function (SCHEMA.FUNCTION) that a receive calls with each message at its limit. NULL: none.';
        COMMENT ON COLUMN howdah.destinations.poison_procedure_owner IS
            'The role that the function belonged to when it was set; it is not called if that changes.'
    """)


def downgrade() -> None:
    op.execute("ALTER TABLE howdah.destinations DROP COLUMN poison_procedure, DROP COLUMN poison_procedure_owner")
