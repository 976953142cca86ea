"""Marks of the queues that receives walk through: up to which position nobody can commit a message any more.

Revision: 0030, after 0029.
"""

from __future__ import annotations

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Such a queue gets a mark with its next alteration too; these exist already. Walks begin at the beginning until it says something."""
    op.execute("""
        DO $$
        DECLARE
            v_id integer;
        BEGIN
            FOR v_id IN
                SELECT d.id FROM howdah.destinations d
                WHERE d.positions <> 0::regclass AND (d.strict_order OR d.message_groups <> 'none' OR d.delivery_policy <> 'shared')
            LOOP
                EXECUTE format('CREATE %s SEQUENCE howdah.mark_%s MINVALUE 0 START 1',
                    CASE WHEN current_setting('server_version_num')::integer >= 150000 THEN 'UNLOGGED' ELSE '' END, v_id);
            END LOOP;
        END
        $$
    """)


def downgrade() -> None:
    op.execute("""
        DO $$
        DECLARE
            v_mark regclass;
        BEGIN
            FOR v_mark IN SELECT c.oid FROM pg_class c WHERE c.relnamespace = 'howdah'::regnamespace AND c.relkind = 'S' AND c.relname ~ '^mark_[0-9]+$' LOOP
                EXECUTE format('DROP SEQUENCE %s', v_mark);
            END LOOP;
        END
        $$
    """)
