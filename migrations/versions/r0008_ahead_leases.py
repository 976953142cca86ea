"""Let sessions hold messages ahead: what a dead one had not delivered is not counted by the limit.

Revision: 0008, after 0007.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table of such leases, and the mark of an incident that does not count."""
    op.create_table(
        "ahead_leases",
        sa.Column("lease_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The lease."),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The destination of its messages."),
        sa.Column(
            "suspects",
            sa.Integer(),
            nullable=False,
            comment="How many of its messages, the first ones left, count as failed when it runs out; the others come again uncounted.",
        ),
        sa.PrimaryKeyConstraint("lease_id", name=op.f("pk_ahead_leases")),
        schema="howdah",
        comment="Leases of sessions that hold messages ahead of delivery. Written when one is given out; a row is never needed for correctness.",
    )
    op.add_column(
        "poison_details",
        sa.Column(
            "uncounted",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="The limit does not count it: the message was held ahead by a session that died, and probably not in its hands.",
        ),
        schema="howdah",
    )


def downgrade() -> None:
    """Drop them again; incidents that did not count go with them."""
    op.execute("DELETE FROM howdah.poison_details WHERE uncounted")
    op.drop_column("poison_details", "uncounted", schema="howdah")
    op.drop_table("ahead_leases", schema="howdah")
