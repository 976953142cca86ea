"""Find what is leased of a subscription by its own, and let unshared subscriptions have open consumers.

Revision: 0021, after 0020.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_TABLE = (
    "Open consumers of queues that tell their consumers apart: exclusive ones, single, failover and round-robin queues, sticky message groups.",
    "Open consumers of unshared subscriptions, and of queues that tell their consumers apart: exclusive ones, single, failover and round-robin queues, sticky message groups.",
)
_COLUMN = ("The queue that it receives from.", "The queue or subscription that it receives from.")


def _comments(old: int, new: int) -> None:
    op.create_table_comment("consumers", _TABLE[new], existing_comment=_TABLE[old], schema="howdah")
    op.alter_column(
        "consumers",
        "destination_id",
        comment=_COLUMN[new],
        existing_type=sa.Integer(),
        existing_comment=_COLUMN[old],
        schema="howdah",
    )


def _index(*columns: str) -> None:
    op.drop_index("ix_parked_lease", table_name="parked", schema="howdah")
    op.create_index(
        "ix_parked_lease", "parked", list(columns), schema="howdah", postgresql_where=sa.text("lease_id IS NOT NULL")
    )


def upgrade() -> None:
    """Have the index of parked leases begin with their destination."""
    _index("destination_id", "lease_id")
    _comments(0, 1)


def downgrade() -> None:
    """Put the index back. What is open of subscriptions is closed, for the older functions know of none."""
    op.execute(
        "DELETE FROM howdah.consumers c USING howdah.destinations d WHERE d.id = c.destination_id AND d.kind = 'subscription'"
    )
    _index("lease_id")
    _comments(1, 0)
