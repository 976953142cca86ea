"""When the delay of a failure ends, and which failures an operator's act came after.

Revision: 0038, after 0037.
"""

from __future__ import annotations

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Failures recorded before have no such time: what they delay is parked already."""
    op.execute("""
        ALTER TABLE howdah.poison_details ADD COLUMN due_at timestamptz;
        COMMENT ON COLUMN howdah.poison_details.due_at IS
            'No receive gives the message out before, unless an operator retries it. NULL: the failure asked for no delay.';
        CREATE INDEX ix_poison_details_due ON howdah.poison_details (destination_id, due_at) WHERE due_at IS NOT NULL;
        ALTER TABLE howdah.operator_acts ADD COLUMN incident_id bigint;
        COMMENT ON COLUMN howdah.operator_acts.incident_id IS
            'The last incident of any message before it. NULL: there was none.'
    """)


def downgrade() -> None:
    """The views over poison_details are made anew by the version that is installed next."""
    op.execute("""
        DROP VIEW IF EXISTS howdah.archive_incidents;
        DROP VIEW IF EXISTS howdah.audit_incidents CASCADE;
        ALTER TABLE howdah.operator_acts DROP COLUMN incident_id;
        ALTER TABLE howdah.poison_details DROP COLUMN due_at
    """)
