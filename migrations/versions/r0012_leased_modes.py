"""Note which leased topic messages are non-persistent: the journal is told when they are acknowledged.

Revision: 0012, after 0011.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column(
        "acked",
        sa.Column(
            "nonpersistent",
            sa.Boolean(),
            server_default="false",
            nullable=False,
            comment="Of a leased message: whether it is non-persistent, which the journal is told when it is acknowledged.",
        ),
        schema="howdah",
    )


def downgrade() -> None:
    """Drop it again."""
    op.drop_column("acked", "nonpersistent", schema="howdah")
