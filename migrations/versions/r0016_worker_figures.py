"""Let workers record how long their handlers took.

Revision: 0016, after 0015.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table of figures."""
    op.create_table(
        "worker_figures",
        sa.Column("figure_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Number of the row."),
        sa.Column("worker", sa.Text(), nullable=False, comment="Name of the worker process, as in workers."),
        sa.Column(
            "queue", sa.Text(), nullable=False, comment="What it received from, by the name that it receives by."
        ),
        sa.Column("listener", sa.Text(), nullable=True, comment="The listener that it received through. NULL: none."),
        sa.Column(
            "from_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="The figures are of the time since then.",
        ),
        sa.Column("until_at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When they were recorded."),
        sa.Column("handled", sa.BigInteger(), nullable=False, comment="Messages handled and consumed."),
        sa.Column("failed", sa.BigInteger(), nullable=False, comment="Failed deliveries."),
        sa.Column(
            "busy_seconds",
            postgresql.DOUBLE_PRECISION(),
            nullable=False,
            comment="Seconds spent in handlers, of all its sessions together.",
        ),
        sa.Column(
            "handling_counts",
            postgresql.ARRAY(sa.BigInteger()),
            nullable=False,
            comment="Calls of handlers by how long they took: element n counts those under 2^(n-1) microseconds that no element before it counts; the 32nd all longer ones.",
        ),
        sa.CheckConstraint("cardinality(handling_counts) = 32", name=op.f("ck_worker_figures_handling_counts")),
        sa.PrimaryKeyConstraint("figure_id", name=op.f("pk_worker_figures")),
        schema="howdah",
        comment="What each worker process did of each queue, a row a minute at most; INSERT-only, kept as long as incidents.",
    )
    op.create_index("ix_worker_figures_until_at", "worker_figures", ["until_at"], schema="howdah")


def downgrade() -> None:
    """Drop it, and the view made for it."""
    op.execute("DROP TABLE howdah.worker_figures CASCADE")
