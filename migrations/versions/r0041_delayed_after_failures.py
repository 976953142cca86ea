"""Let list_delayed say after which failures a message waits.

Revision: 0041, after 0040.
"""

from __future__ import annotations

from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def _make_anew() -> None:
    """PostgreSQL replaces no function by one that returns other columns; without their checksum all procedures are made anew."""
    op.execute("DROP FUNCTION IF EXISTS howdah.list_delayed(text, integer, timestamptz)")
    op.execute("UPDATE howdah.engine SET procedures_checksum = ''")


def upgrade() -> None:
    """The new columns say why a message waits."""
    _make_anew()


def downgrade() -> None:
    """What is older has fewer columns."""
    _make_anew()
