"""Add temporary queues, and find messages by correlation id.

Revision: 0011, after 0010.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table and the indexes; of correlation ids their hashes, for an index entry is bounded."""
    op.create_table(
        "temporary_queues",
        sa.Column("destination_id", sa.Integer(), autoincrement=False, nullable=False, comment="The queue."),
        sa.Column(
            "connection",
            sa.Text(),
            nullable=True,
            comment="Token of the connection that it belongs to, a secret; s- and more: a database session's. NULL: free, to be used again.",
        ),
        sa.Column(
            "boot",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="Start of the server that it was made on: any other server start has ended it.",
        ),
        sa.Column(
            "alive",
            postgresql.REGCLASS(),
            nullable=False,
            comment="A sequence: when the connection was last heard of, in milliseconds since 1970.",
        ),
        sa.Column(
            "lives",
            postgresql.REGCLASS(),
            nullable=False,
            comment="A sequence: counts the uses of the number, seen by all at once.",
        ),
        sa.Column(
            "life", sa.BigInteger(), nullable=True, comment="Value of lives when it was made for its connection."
        ),
        sa.ForeignKeyConstraint(["destination_id"], ["howdah.destinations.id"], name="fk_temporary_queues_destination"),
        sa.PrimaryKeyConstraint("destination_id", name=op.f("pk_temporary_queues")),
        schema="howdah",
        comment="Temporary queues, those in use and those that wait for their next use: a queue's number and sequences are used again and again.",
    )
    op.create_index(
        "ix_temporary_queues_connection", "temporary_queues", ["connection", "destination_id"], schema="howdah"
    )
    for table in ("msgs", "msgs_nonpersistent", "parked"):
        op.create_index(
            f"ix_{table}_correlation",
            table,
            [sa.text("hashtextextended(correlation_id, 0)")],
            schema="howdah",
            postgresql_where=sa.text("correlation_id IS NOT NULL"),
        )


def downgrade() -> None:
    """Drop them again, with every temporary queue."""
    for table in ("msgs", "msgs_nonpersistent", "parked"):
        op.drop_index(f"ix_{table}_correlation", table_name=table, schema="howdah")
    op.execute(
        "DELETE FROM howdah.msgs_nonpersistent n USING howdah.temporary_queues t WHERE n.destination_id = t.destination_id"
    )
    op.execute("DELETE FROM howdah.parked p USING howdah.temporary_queues t WHERE p.destination_id = t.destination_id")
    op.execute(
        "UPDATE howdah.destinations d SET dropped_at = coalesce(d.dropped_at, now()) FROM howdah.temporary_queues t WHERE t.destination_id = d.id"
    )
    op.execute("DROP TABLE howdah.temporary_queues CASCADE")  # and the functions that name its type
