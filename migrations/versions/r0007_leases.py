"""Let messages be leased.

Revision: 0007, after 0006.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

REASONS = "'delay', 'redelivery', 'blocked', 'quarantine', 'operator'"
COMMENT = "delay (sent so), redelivery (after a failure), blocked (past its limit), quarantine, "


def upgrade() -> None:
    """Add the columns, and the sequence that numbers leases."""
    op.execute("CREATE SEQUENCE howdah.lease_numbers")
    op.add_column(
        "parked",
        sa.Column(
            "lease_id",
            sa.BigInteger(),
            nullable=True,
            comment="The lease that has the message until due_at. NULL: none.",
        ),
        schema="howdah",
    )
    op.create_index(
        "ix_parked_lease",
        "parked",
        ["lease_id"],
        schema="howdah",
        postgresql_where=sa.text("lease_id IS NOT NULL"),
    )
    _reasons(
        f"{REASONS}, 'lease'", f"{COMMENT}operator (park_messages) or lease.", f"{COMMENT}or operator (park_messages)."
    )
    op.add_column(
        "acked",
        sa.Column(
            "lease_id",
            sa.BigInteger(),
            nullable=True,
            comment="The lease that has the message until leased_until. NULL: it is done with.",
        ),
        schema="howdah",
    )
    op.add_column(
        "acked",
        sa.Column(
            "leased_until",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="When the lease ends. NULL: it is no lease.",
        ),
        schema="howdah",
    )
    op.create_index(
        "ix_acked_leased",
        "acked",
        ["ack_id", "leased_until"],
        schema="howdah",
        postgresql_where=sa.text("lease_id IS NOT NULL"),
    )


def _reasons(reasons: str, comment: str, before: str) -> None:
    op.drop_constraint(op.f("ck_parked_reason"), "parked", schema="howdah")
    op.create_check_constraint(op.f("ck_parked_reason"), "parked", f"parked_reason IN ({reasons})", schema="howdah")
    op.alter_column(
        "parked",
        "parked_reason",
        existing_type=sa.Text(),
        existing_nullable=False,
        comment=comment,
        existing_comment=before,
        schema="howdah",
    )


def downgrade() -> None:
    """Drop them again; leased messages become delayed ones, due when their lease ends."""
    op.execute("DELETE FROM howdah.acked WHERE lease_id IS NOT NULL")
    op.drop_index("ix_acked_leased", table_name="acked", schema="howdah")
    op.drop_column("acked", "leased_until", schema="howdah")
    op.drop_column("acked", "lease_id", schema="howdah")
    op.execute("UPDATE howdah.parked SET parked_reason = 'redelivery' WHERE parked_reason = 'lease'")
    _reasons(REASONS, f"{COMMENT}or operator (park_messages).", f"{COMMENT}operator (park_messages) or lease.")
    op.drop_index("ix_parked_lease", table_name="parked", schema="howdah")
    op.drop_column("parked", "lease_id", schema="howdah")
    op.execute("DROP SEQUENCE howdah.lease_numbers")
