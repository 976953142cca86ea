"""Create the tables, sequences and types. The SQL beside this file is rendered from the metadata in ``schema/``.

Revision: 1001, the first. What has a smaller number was never released.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

from howdah.migrations.facades import remove_all

revision = "1001"
down_revision = None
branch_labels = None
depends_on = None

RELEASED: str | None = None
"""The SHA-256 of the SQL, from the first release on: after it, this revision stays as it is. None: not released yet."""

SQL = Path(__file__).with_suffix(".sql")

# Each list is made before anything on it goes: what has gone with something else has no name any more.
EMPTY = """
DO $$
DECLARE
    v_drop text;
BEGIN
    FOREACH v_drop IN ARRAY array(
        SELECT format('VIEW IF EXISTS %s CASCADE', c.oid::regclass) FROM pg_class c
        WHERE c.relnamespace = 'howdah'::regnamespace AND c.relkind = 'v'
        UNION ALL
        SELECT format('FUNCTION IF EXISTS %s CASCADE', p.oid::regprocedure) FROM pg_proc p
        WHERE p.pronamespace = 'howdah'::regnamespace
    ) LOOP
        EXECUTE 'DROP ' || v_drop;
    END LOOP;
    FOREACH v_drop IN ARRAY array(
        SELECT format('TABLE %s CASCADE', c.oid::regclass) FROM pg_class c
        WHERE c.relnamespace = 'howdah'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            AND c.relname <> 'alembic_version'
    ) LOOP
        EXECUTE 'DROP ' || v_drop;
    END LOOP;
    FOREACH v_drop IN ARRAY array(
        SELECT format('TYPE %s', c.reltype::regtype) FROM pg_class c
        WHERE c.relnamespace = 'howdah'::regnamespace AND c.relkind = 'c'
        UNION ALL
        SELECT format('SEQUENCE %s', c.oid::regclass) FROM pg_class c
        WHERE c.relnamespace = 'howdah'::regnamespace AND c.relkind = 'S'
    ) LOOP
        EXECUTE 'DROP ' || v_drop;
    END LOOP;
END
$$
"""


def upgrade() -> None:
    """Create everything that is not a procedure or a view."""
    _run(SQL.read_text(encoding="utf-8"))


def downgrade() -> None:
    """Remove everything, procedures, views and facades included; the schema and the roles stay.

    Raises MigrationError if something of somebody else's stands on a facade.
    """
    # Its tables have defaults that call our functions. Those would go, and nothing brings them back.
    remove_all(op.get_bind())
    _run(EMPTY)


def _run(sql: str) -> None:
    """Run statements through the driver, which takes several at once and leaves colons and percent signs alone."""
    op.get_bind().connection.cursor().execute(sql)
