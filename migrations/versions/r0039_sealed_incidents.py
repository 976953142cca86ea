"""Seal incidents, so that an audit sees whether one was changed.

Revision: 0039, after 0038.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Incidents of before have no seal, and no audit judges them. The views are made anew with the procedures."""
    op.execute("DROP VIEW IF EXISTS howdah.archive_incidents, howdah.audit_incidents")
    op.add_column(
        "poison_details",
        sa.Column(
            "digest",
            sa.LargeBinary(),
            nullable=True,
            comment="16 bytes for the message, the time and the error (howdah._seal), so that an audit sees whether they are still the same.",
        ),
        schema="howdah",
    )


def downgrade() -> None:
    """Drop the seal."""
    op.execute("DROP VIEW IF EXISTS howdah.archive_incidents, howdah.audit_incidents")
    op.drop_column("poison_details", "digest", schema="howdah")
