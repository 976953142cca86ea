"""Let an incident say that its message is rejected, and after how long it is to be delivered again.

Revision: 0005, after 0004.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns."""
    op.add_column(
        "poison_details",
        sa.Column(
            "rejected",
            sa.Boolean(),
            nullable=False,
            server_default=sa.text("false"),
            comment="The handler wanted no more tries: the message counts as having reached any limit.",
        ),
        schema="howdah",
    )
    op.add_column(
        "poison_details",
        sa.Column(
            "delay_ms",
            sa.BigInteger(),
            nullable=True,
            comment="The delay asked for in place of the queue's, in milliseconds.",
        ),
        schema="howdah",
    )


def downgrade() -> None:
    """Drop them again."""
    op.drop_column("poison_details", "delay_ms", schema="howdah")
    op.drop_column("poison_details", "rejected", schema="howdah")
