"""${message}

Revision: ${up_revision}, after ${down_revision | comma,n}.
"""

from __future__ import annotations

from alembic import op
import sqlalchemy as sa
${imports if imports else ""}

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the tables, before the procedures; what needs these goes into a function ``after_procedures()``."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Undo upgrade."""
    ${downgrades if downgrades else "pass"}
