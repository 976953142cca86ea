"""Keep the text of topic messages as text, and a gapless run of numbers in the journal as its first and last one: streams are read faster.

Revision: 0028, after 0027.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

TABLES = [f"topic_{kind}_{number}" for kind in ("msgs", "nonpersistent") for number in range(3)]
TEXT = {
    False: "True: body is UTF-8 text or JSON. False: bytes.",
    True: "True: the body is text or JSON, in body_text. False: bytes.",
}
BODY = {False: "The exact bytes of the body.", True: "The exact bytes of the body. NULL: it is text."}

IDS = {
    False: "The messages of one call.",
    True: "The messages of one call; where there is a last_id the first one only.",
}
# It returns the columns of these tables, which no replacement may change.
PUBLISHED = (
    "DROP FUNCTION IF EXISTS howdah._published(howdah.destinations, bigint[], timestamptz, timestamptz, boolean, text, bytea[],"
    " jsonb[], integer[], text[], text, text[], uuid[])"
)
LZ4 = """
DO $$
BEGIN
    IF 'lz4' = ANY ((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
        ALTER TABLE howdah.{table} ALTER COLUMN body SET COMPRESSION lz4, ALTER COLUMN body_text SET COMPRESSION lz4;
    END IF;
END
$$
"""


def upgrade() -> None:
    """Move the text of what is stored: each such row is written anew."""
    op.execute(PUBLISHED)
    op.add_column(
        "journal",
        sa.Column(
            "last_id",
            sa.BigInteger(),
            nullable=True,
            comment="Of messages read from a topic whose positions follow one another without a gap: the last one. NULL: message_ids has them all.",
        ),
        schema="howdah",
    )
    op.alter_column("journal", "message_ids", comment=IDS[True], existing_comment=IDS[False], schema="howdah")
    for table in TABLES:
        op.add_column(
            table,
            sa.Column(
                "body_text",
                sa.Text(),
                nullable=True,
                comment="The body, where it is text: nobody who reads it converts it. NULL: it is bytes.",
            ),
            schema="howdah",
        )
        _describe(table, True)
        op.execute(LZ4.format(table=table))
        op.execute(f"UPDATE howdah.{table} SET body_text = convert_from(body, 'UTF8'), body = NULL WHERE is_text")


def downgrade() -> None:
    """Turn the text into bytes again. What reads the column goes first; the procedures of before bring it again."""
    op.execute(PUBLISHED)
    op.execute("DROP VIEW IF EXISTS howdah.activemq_msgs, howdah.audit_journal, howdah.audit_journal_calls")
    op.execute("UPDATE howdah.engine SET procedures_checksum = ''")
    op.execute(
        "UPDATE howdah.journal SET message_ids = array(SELECT generate_series(message_ids[1], last_id, 1000000))"
        " WHERE last_id IS NOT NULL"
    )
    op.alter_column("journal", "message_ids", comment=IDS[False], existing_comment=IDS[True], schema="howdah")
    op.drop_column("journal", "last_id", schema="howdah")
    for table in TABLES:
        op.execute(f"UPDATE howdah.{table} SET body = convert_to(body_text, 'UTF8') WHERE is_text")
        op.execute(f"ALTER TABLE howdah.{table} ALTER COLUMN body SET COMPRESSION DEFAULT")
        _describe(table, False)
        op.drop_column(table, "body_text", schema="howdah")


def _describe(table: str, apart: bool) -> None:
    op.alter_column(
        table,
        "is_text",
        comment=TEXT[apart],
        existing_comment=TEXT[not apart],
        schema="howdah",
        existing_nullable=False,
    )
    op.alter_column(
        table,
        "body",
        nullable=apart,
        comment=BODY[apart],
        existing_comment=BODY[not apart],
        existing_type=sa.LargeBinary(),
        schema="howdah",
    )
