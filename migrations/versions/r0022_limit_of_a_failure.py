"""Record the limit by which a failure was judged, so that an audit can be strict about it whatever the limit is later.

Revision: 0022, after 0021.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; of failures recorded so far it is not known."""
    op.add_column(
        "poison_details",
        sa.Column(
            "dispose_at",
            sa.Integer(),
            nullable=True,
            comment="The number of failures that its queue disposed of a message at, which decided the outcome. NULL: something else decides, or it was not recorded.",
        ),
        schema="howdah",
    )


def downgrade() -> None:
    """Drop it, and the views that show it."""
    op.execute("DROP VIEW IF EXISTS howdah.archive_incidents")
    op.execute("DROP VIEW IF EXISTS howdah.audit_incidents")
    op.drop_column("poison_details", "dispose_at", schema="howdah")
