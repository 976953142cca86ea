"""Let the journal tell a gapless read of a topic by its least and its greatest number.

Revision: 0028, after 0027.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

BEFORE = "The messages of one call."
NOW = "The messages of one call; where there is a last_id the one with the least number only."


def upgrade() -> None:
    """Add the column; what was written before has all its numbers."""
    op.add_column(
        "journal",
        sa.Column(
            "last_id",
            sa.BigInteger(),
            nullable=True,
            comment="Of messages read from a topic whose numbers leave none out: the greatest. NULL: message_ids has them all.",
        ),
        schema="howdah",
    )
    op.alter_column("journal", "message_ids", comment=NOW, existing_comment=BEFORE, schema="howdah")


def downgrade() -> None:
    """Write all numbers out again. The views that read the column go first; the procedures of before bring them again."""
    op.execute("DROP VIEW IF EXISTS howdah.audit_journal, howdah.audit_journal_calls")
    op.execute("UPDATE howdah.engine SET procedures_checksum = ''")
    op.execute(
        "UPDATE howdah.journal SET message_ids = array(SELECT generate_series(message_ids[1], last_id, 1000000))"
        " WHERE last_id IS NOT NULL"
    )
    op.alter_column("journal", "message_ids", comment=BEFORE, existing_comment=NOW, schema="howdah")
    op.drop_column("journal", "last_id", schema="howdah")
