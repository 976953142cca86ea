"""Add what a full queue does, limits of the whole engine, and deduplication keys.

Revision: 0009, after 0008.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

SEQUENCES = ("system_room", "system_tickets", "system_state", "no_room")

LIMITED = """
DO $$
DECLARE
    v_id integer;
    v_kind text := CASE WHEN current_setting('server_version_num')::integer >= 150000 THEN 'UNLOGGED' ELSE '' END;
BEGIN
    FOR v_id IN
        SELECT id FROM howdah.destinations
        WHERE dropped_at IS NULL AND (message_limit IS NOT NULL OR byte_limit IS NOT NULL)
    LOOP
        EXECUTE format('CREATE %s SEQUENCE howdah.%I MINVALUE 0 START 1', v_kind, 'room_' || v_id);
        EXECUTE format('CREATE %s SEQUENCE howdah.%I MINVALUE 0 START 1', v_kind, 'tickets_' || v_id);
        UPDATE howdah.destinations
        SET room = format('howdah.%I', 'room_' || v_id)::regclass, tickets = format('howdah.%I', 'tickets_' || v_id)::regclass
        WHERE id = v_id;
    END LOOP;
END $$
"""


def _of_destinations() -> list[sa.Column[object]]:
    """What a destination does at its limits."""
    return [
        sa.Column(
            "limit_behaviour",
            sa.Text(),
            nullable=False,
            server_default="reject",
            comment="What a send to a full queue does: reject, remove_oldest, remove_lowest_priority or block (up to send_timeout_ms).",
        ),
        sa.Column(
            "send_timeout_ms",
            sa.BigInteger(),
            nullable=False,
            server_default=sa.text("30000"),
            comment="Milliseconds that a send waits for room when limit_behaviour is block.",
        ),
        sa.Column(
            "deduplication_window_ms",
            sa.BigInteger(),
            nullable=False,
            server_default=sa.text("300000"),
            comment="Milliseconds for which a deduplication key is remembered; Amazon SQS has five minutes.",
        ),
        sa.Column(
            "room",
            postgresql.REGCLASS(),
            nullable=True,
            comment="A sequence: the last ticket that sends may use without counting; howdah._reserve says how. NULL: no limit holds.",
        ),
        sa.Column(
            "tickets",
            postgresql.REGCLASS(),
            nullable=True,
            comment="A sequence: the tickets that sends under a limit draw. NULL: no limit holds.",
        ),
    ]


def _of_engine() -> list[sa.Column[object]]:
    """The limits of the whole engine."""
    return [
        sa.Column(
            "max_count",
            sa.BigInteger(),
            nullable=True,
            comment="Messages at most in all queues and subscriptions. NULL: any number.",
        ),
        sa.Column(
            "max_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="Bytes of bodies at most in all queues and subscriptions. NULL: any number.",
        ),
        sa.Column(
            "yellow_threshold",
            sa.Integer(),
            nullable=False,
            server_default=sa.text("60"),
            comment="Percent of max_count or max_bytes from which on expired messages are reclaimed at once. Sun ONE MQ's default.",
        ),
        sa.Column(
            "orange_threshold",
            sa.Integer(),
            nullable=False,
            server_default=sa.text("75"),
            comment="Percent from which on sends are slowed. Sun ONE MQ's default.",
        ),
        sa.Column(
            "red_threshold",
            sa.Integer(),
            nullable=False,
            server_default=sa.text("90"),
            comment="Percent from which on nothing is sent and no queue or topic made. Sun ONE MQ's default.",
        ),
        sa.Column(
            "orange_delay_ms",
            sa.Integer(),
            nullable=False,
            server_default=sa.text("10"),
            comment="Milliseconds that a send waits for each 50 messages in the state orange.",
        ),
    ]


CHECKS = (
    (
        "destinations",
        "limit_behaviour",
        "limit_behaviour IN ('reject', 'remove_oldest', 'remove_lowest_priority', 'block') AND send_timeout_ms >= 0",
    ),
    ("destinations", "deduplication_window_ms", "deduplication_window_ms > 0"),
    ("engine", "limits", "max_count > 0 AND max_bytes > 0 AND orange_delay_ms >= 0"),
    (
        "engine",
        "thresholds",
        (
            "yellow_threshold > 0 AND yellow_threshold <= orange_threshold AND orange_threshold <= red_threshold"
            " AND red_threshold <= 100"
        ),
    ),
)


def upgrade() -> None:
    """Add the columns, the table and the sequences; the procedures make those of each limited queue."""
    for name in SEQUENCES:
        op.execute(f"CREATE SEQUENCE howdah.{name} MINVALUE 0 START 1")
    for table, columns in (("destinations", _of_destinations()), ("engine", _of_engine())):
        for column in columns:
            op.add_column(table, column, schema="howdah")
    for table, name, condition in CHECKS:
        op.create_check_constraint(op.f(f"ck_{table}_{name}"), table, condition, schema="howdah")
    op.execute(LIMITED)
    op.create_table(
        "deduplications",
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The queue or topic that was sent to."),
        sa.Column("key", sa.Text(collation="C"), nullable=False, comment="The key that the sender gave."),
        sa.Column("message_id", sa.BigInteger(), nullable=False, comment="The first message that was sent with it."),
        sa.Column(
            "forgotten_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="From this time on the key may be used anew.",
        ),
        sa.PrimaryKeyConstraint("destination_id", "key", name=op.f("pk_deduplications")),
        schema="howdah",
        comment="The deduplication keys of the last minutes: INSERT by the first send, DELETE in the background.",
    )


def downgrade() -> None:
    """Drop them again; limits hold as far as the older procedures count."""
    op.drop_table("deduplications", schema="howdah")
    for table, name, _ in reversed(CHECKS):
        op.drop_constraint(op.f(f"ck_{table}_{name}"), table, schema="howdah")
    for table, columns in (("engine", _of_engine()), ("destinations", _of_destinations())):
        for column in reversed(columns):
            op.drop_column(table, column.name, schema="howdah")
    op.execute(
        "DO $$ DECLARE v_sequence text; BEGIN FOR v_sequence IN SELECT c.oid::regclass FROM pg_class c"
        " WHERE c.relnamespace = 'howdah'::regnamespace AND c.relkind = 'S' AND c.relname ~ '^(room|tickets)_[0-9]+$'"
        " LOOP EXECUTE 'DROP SEQUENCE ' || v_sequence; END LOOP; END $$"
    )
    for name in SEQUENCES:
        op.execute(f"DROP SEQUENCE howdah.{name}")
