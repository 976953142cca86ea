"""Keep the message numbers of large batches in the journal as they are: compressing 10,000 of them took longer than reading their messages.

Revision: 0023, after 0022.
"""

from __future__ import annotations

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Write them uncompressed from now on; what is there stays as it is. Partitions take it over, those to come too."""
    op.execute("ALTER TABLE howdah.journal ALTER message_ids SET STORAGE EXTERNAL")


def downgrade() -> None:
    """Compress them again."""
    op.execute("ALTER TABLE howdah.journal ALTER message_ids SET STORAGE EXTENDED")
