"""Lay large bodies apart from their messages, and note where messages lie that were moved.

Revision: 0020, after 0019.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_TABLES = ("msgs", "leased", "parked")
_BODY = "The exact bytes of the body; text is stored as UTF-8."


def upgrade() -> None:
    """Add both tables. Large bodies that are there stay in their messages' rows until these end; what was moved is noted."""
    op.create_table(
        "bodies",
        sa.Column("message_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The message."),
        sa.Column(
            "body",
            sa.LargeBinary(),
            nullable=False,
            comment="The exact bytes of its body. Up to 8 KB in the row itself, and not compressed.",
        ),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_bodies")),
        schema="howdah",
        comment="Large bodies of persistent messages of queues. A body stays here wherever its message is moved to; INSERT by send, DELETE by what ends the message.",
    )
    op.execute("ALTER TABLE howdah.bodies SET (toast_tuple_target = 8160)")
    op.execute("""
        DO $$BEGIN
            IF 'lz4' = ANY ((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
                ALTER TABLE howdah.bodies ALTER COLUMN body SET COMPRESSION lz4;
            END IF;
        END$$
    """)
    op.execute("CREATE SEQUENCE howdah.bodies_apart")
    op.create_table(
        "moved",
        sa.Column("message_id", sa.BigInteger(), nullable=False, comment="The message."),
        sa.Column("seq", sa.BigInteger(), nullable=False, comment="Its position there."),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The destination it was moved to."),
        sa.Column("rank", sa.SmallInteger(), nullable=False, comment="9 minus its priority."),
        sa.PrimaryKeyConstraint("message_id", "destination_id", "seq", name=op.f("pk_moved")),
        schema="howdah",
        comment="Where messages lie whose number does not tell their position, for look-ups by number. INSERT by what moves one; a row may be out of date.",
    )
    op.execute("CREATE SEQUENCE howdah.moved_walk MINVALUE 0 START 0")
    op.execute("""
        INSERT INTO howdah.moved (message_id, seq, destination_id, rank)
        SELECT m.message_id, m.seq, m.destination_id, m.rank FROM howdah.msgs m WHERE m.message_id <> m.seq * 1000000 + m.destination_id
        UNION
        SELECT n.message_id, n.seq, n.destination_id, n.rank FROM howdah.msgs_nonpersistent n
        WHERE n.message_id <> n.seq * 1000000 + n.destination_id
    """)
    for table in _TABLES:
        op.alter_column(
            table,
            "body",
            nullable=True,
            comment=f"{_BODY} NULL: a large one, which lies in bodies.",
            existing_type=sa.LargeBinary(),
            existing_comment=_BODY,
            schema="howdah",
        )


def downgrade() -> None:
    """Put the bodies back into the messages' rows. Nobody may receive meanwhile: rows are updated."""
    for table in _TABLES:
        op.execute(
            f"UPDATE howdah.{table} m SET body = b.body FROM howdah.bodies b WHERE b.message_id = m.message_id AND m.body IS NULL"
        )
        op.alter_column(
            table,
            "body",
            nullable=False,
            comment=_BODY,
            existing_type=sa.LargeBinary(),
            existing_comment=f"{_BODY} NULL: a large one, which lies in bodies.",
            schema="howdah",
        )
    op.execute("DROP TABLE howdah.bodies CASCADE")  # and the views made for it
    op.execute("DROP TABLE howdah.moved")
    op.execute("DROP SEQUENCE howdah.bodies_apart, howdah.moved_walk")
