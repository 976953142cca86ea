"""Remember which leases are of consumers that live as long as their sessions.

Revision: 0027, after 0026.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table; leases that there are end when they end."""
    op.create_table(
        "consumer_leases",
        sa.Column(
            "lease_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="Number of the lease: its fencing token.",
        ),
        sa.Column(
            "consumer_id",
            sa.Integer(),
            nullable=False,
            comment="The consumer, which lives as long as its session. No foreign key: its row would be locked by each lease.",
        ),
        sa.PrimaryKeyConstraint("lease_id", name=op.f("pk_consumer_leases")),
        schema="howdah",
        comment="Leases that end when the session of their consumer is found to have ended.",
    )
    op.create_index(
        op.f("ix_consumer_leases_consumer_id"), "consumer_leases", ["consumer_id"], unique=False, schema="howdah"
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("consumer_leases", schema="howdah")
