"""Move what is leased from a queue's main lane into a table with one index.

Revision: 0014, after 0013.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the messages that are leased, and the record of leases. Those that are out stay in parked and end there."""
    op.create_table(
        "leases",
        sa.Column(
            "lease_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="Number of the lease: its fencing token.",
        ),
        sa.Column(
            "until",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="From this time on its messages may be received again.",
        ),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The queue whose messages it has."),
        sa.Column(
            "rank", sa.SmallInteger(), nullable=False, comment="9 minus their priority: that of the queue's main lane."
        ),
        sa.PrimaryKeyConstraint("lease_id", name=op.f("pk_leases")),
        schema="howdah",
        comment="Leases with messages in the table leased. extend replaces the row, so that none is ever updated.",
    )
    op.create_index("ix_leases_destination_id", "leases", ["destination_id", "rank", "until"], schema="howdah")
    op.execute("CREATE TABLE howdah.leased (LIKE howdah.msgs INCLUDING DEFAULTS INCLUDING COMMENTS)")
    op.create_primary_key(op.f("pk_leased"), "leased", ["destination_id", "rank", "seq"], schema="howdah")
    op.create_table_comment(
        "leased",
        "Messages of the main lanes that leases have. INSERT by lease, DELETE by whoever ends it; no row is ever updated.",
        schema="howdah",
    )
    op.execute(
        "COMMENT ON COLUMN howdah.leased.seq IS 'The number of its lease times 2^20, and its own number within the lease.'"
    )


def downgrade() -> None:
    """Lay what is leased into parked, where it ends as before, and drop the tables."""
    op.execute("""
        INSERT INTO howdah.parked (seq, message_id, sent_at, expires_at, dead_at, destination_id, origin_id, rank, stage, is_text,
            content_type, body, headers, correlation_id, reply_to, message_type, conversation_id, dead_reason, due_at, parked_reason, lease_id)
        SELECT m.message_id / 1000000, m.message_id, m.sent_at, m.expires_at, m.dead_at, m.destination_id, m.origin_id, m.rank, m.stage,
            m.is_text, m.content_type, m.body, m.headers, m.correlation_id, m.reply_to, m.message_type, m.conversation_id, m.dead_reason,
            l.until, 'lease', l.lease_id
        FROM howdah.leased m JOIN howdah.leases l ON l.lease_id = m.seq >> 20
    """)
    op.execute("DROP TABLE howdah.leased, howdah.leases CASCADE")  # and the views and functions made for them
