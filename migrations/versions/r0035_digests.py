"""Record with each send at journal_level full when, with which priority and what was sent, so that an audit sees a change.

Revision: 0035, after 0034.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

COMMENTS = {
    "oldest_sent_at": (
        "When the oldest of the consumed messages was sent; of sent: when all of them were.",
        "When the oldest of the consumed messages was sent.",
    ),
    "priorities": (
        "Of sent: the priority of each message.",
        "Where there are group_ids: the priority of each message.",
    ),
}


def upgrade() -> None:
    """Sends of before have no digest, and no audit compares them. The views are made anew with the procedures."""
    op.execute("DROP VIEW IF EXISTS howdah.audit_journal, howdah.audit_messages")
    op.add_column(
        "journal",
        sa.Column(
            "digests",
            postgresql.ARRAY(sa.LargeBinary()),
            nullable=True,
            comment="Of sent: 16 bytes for the content of each message (howdah._digest), so that an audit sees whether it is still the same.",
        ),
        schema="howdah",
    )
    op.add_column(
        "engine",
        sa.Column(
            "digest_secret",
            postgresql.UUID(),
            server_default=sa.text("gen_random_uuid()"),
            nullable=False,
            comment="Goes into every digest of the journal, so that nobody finds a short body by trying. Nobody but the owner reads it.",
        ),
        schema="howdah",
    )
    _comment(0)


def downgrade() -> None:
    """Drop both; what else was recorded of sends stays."""
    op.execute("DROP VIEW IF EXISTS howdah.audit_journal, howdah.audit_messages")
    _comment(1)
    op.drop_column("engine", "digest_secret", schema="howdah")
    op.drop_column("journal", "digests", schema="howdah")


def _comment(which: int) -> None:
    for column, texts in COMMENTS.items():
        op.execute(f"COMMENT ON COLUMN howdah.journal.{column} IS '{texts[which]}'")
