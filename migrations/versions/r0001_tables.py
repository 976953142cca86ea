"""Create the tables, the message type and the message counter.

Revision: 0001, the first.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import UserDefinedType

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


class PgSnapshot(UserDefinedType[str]):
    """A pg_snapshot."""

    cache_ok = True

    def get_col_spec(self, **options: Any) -> str:
        """The type's name in DDL."""
        return "PG_SNAPSHOT"


MESSAGE = """
CREATE TYPE howdah.message AS (
    message_id bigint, queue text, body text, bytes bytea, content_type text, headers jsonb, priority integer,
    correlation_id text, reply_to text, message_type text, conversation_id uuid, delivery_mode text,
    sent_at timestamptz, expires_at timestamptz, delivery_count integer, redelivered boolean, "position" bigint,
    stage integer, origin_queue text, dead_reason text, dead_at timestamptz
)
"""

MESSAGE_COMMENT = (
    "COMMENT ON TYPE howdah.message IS 'A message as receive and browse return it."
    " body holds text and JSON, bytes every other body; the other one is NULL.'"
)

CLAIMED = """
CREATE TYPE howdah.claimed AS (
    seq bigint, message_id bigint, sent_at timestamptz, expires_at timestamptz, dead_at timestamptz,
    destination_id integer, origin_id integer, rank smallint, stage smallint, is_text boolean, content_type text,
    body bytea, headers jsonb, correlation_id text, reply_to text, message_type text, conversation_id uuid,
    dead_reason text, place text, nonpersistent boolean
)
"""

CLAIMED_COMMENT = (
    "COMMENT ON TYPE howdah.claimed IS 'A row of msgs with the place it was taken from:"
    " msgs, msgs_nonpersistent or parked. Internal.'"
)

DROP_PROCEDURES = """
DO $$
DECLARE
    v_object text;
BEGIN
    FOR v_object IN SELECT c.oid::regclass FROM pg_class c
        WHERE c.relnamespace = 'howdah'::regnamespace AND c.relkind = 'v' LOOP
        EXECUTE 'DROP VIEW ' || v_object || ' CASCADE';
    END LOOP;
    FOR v_object IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'howdah'::regnamespace LOOP
        EXECUTE 'DROP FUNCTION ' || v_object || ' CASCADE';
    END LOOP;
END
$$
"""

DROP_SEQUENCES = """
DO $$
DECLARE
    v_sequence text;
BEGIN
    FOR v_sequence IN SELECT c.oid::regclass FROM pg_class c
        WHERE c.relnamespace = 'howdah'::regnamespace AND c.relkind = 'S' LOOP
        EXECUTE 'DROP SEQUENCE ' || v_sequence;
    END LOOP;
END
$$
"""

# lz4 stores a JSON of 1 MB 3.5 times as fast as pglz for 6 % more WAL (docs/performance.md); not every server is built with it.
COMPRESSION = """
DO $$
BEGIN
    IF 'lz4' = ANY ((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
        ALTER TABLE howdah.msgs ALTER COLUMN body SET COMPRESSION lz4;
        ALTER TABLE howdah.msgs_nonpersistent ALTER COLUMN body SET COMPRESSION lz4;
        ALTER TABLE howdah.parked ALTER COLUMN body SET COMPRESSION lz4;
    END IF;
END
$$
"""


def upgrade() -> None:
    """Create everything that is not a procedure or a view."""
    for number in range(16):
        op.execute(f"CREATE SEQUENCE howdah.failing_{number}")
        op.execute(f"CREATE SEQUENCE howdah.special_{number}")
    op.create_table(
        "acks",
        sa.Column(
            "last_acked_id",
            sa.BigInteger(),
            server_default="-1",
            nullable=False,
            comment="The subscription's low-water mark.",
        ),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The topic subscribed to."),
        sa.Column(
            "priority",
            sa.SmallInteger(),
            server_default="0",
            nullable=False,
            comment="Priority the row is for, in prioritised subscriptions; else 0.",
        ),
        sa.Column("client_id", sa.Text(), nullable=False, comment="Client id of the subscriber."),
        sa.Column("subscription_name", sa.Text(), nullable=False, comment="Name of the durable subscription."),
        sa.Column("selector", sa.Text(), nullable=True, comment="Message selector. NULL: all messages."),
        sa.PrimaryKeyConstraint("destination_id", "client_id", "subscription_name", "priority", name=op.f("pk_acks")),
        schema="howdah",
        comment="Durable subscriptions and their cursors.",
    )
    op.create_table(
        "backlog_figures",
        sa.Column("destination_id", sa.Integer(), autoincrement=False, nullable=False, comment="The destination."),
        sa.Column("live", sa.BigInteger(), nullable=False, comment="Messages ready for delivery at counted_at."),
        sa.Column("parked", sa.BigInteger(), nullable=False, comment="Messages waiting for a time at counted_at."),
        sa.Column(
            "oldest_sent_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="When the oldest ready message was sent.",
        ),
        sa.Column(
            "counted_at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When the figures were counted."
        ),
        sa.PrimaryKeyConstraint("destination_id", name=op.f("pk_backlog_figures")),
        schema="howdah",
        comment="Counts of large queues, refreshed in the background.",
    )
    op.create_table(
        "dead_figures",
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The exception destination."),
        sa.Column("origin_id", sa.Integer(), nullable=False, comment="The destination its messages came from."),
        sa.Column("dead", sa.BigInteger(), nullable=False, comment="Number of them at backlog_figures.counted_at."),
        sa.PrimaryKeyConstraint("destination_id", "origin_id", name=op.f("pk_dead_figures")),
        schema="howdah",
        comment="Counts of dead messages by origin, of exception destinations that are in backlog_figures.",
    )
    op.create_table(
        "destinations",
        sa.Column(
            "id",
            sa.Integer(),
            sa.Identity(always=True),
            nullable=False,
            comment="Number of the destination, used in every other table.",
        ),
        sa.Column(
            "name",
            sa.Text(collation="C"),
            nullable=False,
            comment="Name: 1 to 242 letters, digits, dots, underscores, hyphens, slashes.",
        ),
        sa.Column(
            "kind",
            sa.Text(),
            server_default="queue",
            nullable=False,
            comment="queue (one consumer a message) or topic (every subscriber).",
        ),
        sa.Column(
            "is_system",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="Made by Howdah: can be neither altered nor dropped.",
        ),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When it was created."),
        sa.Column("created_by", sa.Text(), nullable=False, comment="The role that created it."),
        sa.Column(
            "dropped_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="When it was dropped; the row stays so that the journal keeps its name.",
        ),
        sa.Column(
            "sending_paused",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: send raises HD008.",
        ),
        sa.Column(
            "receiving_paused",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: receive raises HD009.",
        ),
        sa.Column(
            "max_failed_deliveries",
            sa.Integer(),
            server_default="5",
            nullable=False,
            comment="At this many failures a message is disposed of; 0: never. WebSphere's default is 5.",
        ),
        sa.Column(
            "exception_mode",
            sa.Text(),
            server_default="system",
            nullable=False,
            comment="Where a message goes at the limit: system, named (exception_queue) or none (it stays).",
        ),
        sa.Column(
            "exception_queue",
            sa.Text(),
            nullable=True,
            comment="Name of the exception destination when exception_mode is named.",
        ),
        sa.Column(
            "redelivery_delay_ms",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Milliseconds a failed message waits before its next delivery.",
        ),
        sa.Column(
            "blocked_retry_ms",
            sa.BigInteger(),
            server_default="5000",
            nullable=False,
            comment="Milliseconds between retries past the limit when exception_mode is none.",
        ),
        sa.Column(
            "max_message_bytes",
            sa.BigInteger(),
            server_default="73400320",
            nullable=False,
            comment="Largest body in bytes; the default of 70 MiB is Sun ONE MQ's.",
        ),
        sa.Column(
            "default_priority",
            sa.Integer(),
            server_default="4",
            nullable=False,
            comment="Priority of a message sent without one, 0 to 9.",
        ),
        sa.Column(
            "default_time_to_live_ms",
            sa.BigInteger(),
            nullable=True,
            comment="Milliseconds to live of a message sent without a time to live. NULL: for ever.",
        ),
        sa.Column(
            "journal_level",
            sa.Text(),
            server_default="exits",
            nullable=False,
            comment="off, exits (what became of each message) or full (sends too).",
        ),
        sa.Column(
            "positions",
            postgresql.REGCLASS(),
            nullable=False,
            comment="The sequence that gives the destination's messages their positions.",
        ),
        sa.Column(
            "head",
            postgresql.REGCLASS(),
            nullable=False,
            comment="Hint of the main lane (ready messages of the priority it was created with): as lanes.head.",
        ),
        sa.Column("search", postgresql.REGCLASS(), nullable=False, comment="Hint of the main lane: as lanes.search."),
        sa.Column(
            "waiting",
            postgresql.REGCLASS(),
            nullable=False,
            comment="A sequence, a hint: whether somebody waits and asked to be woken; howdah._wake says how.",
        ),
        sa.Column(
            "special",
            postgresql.REGCLASS(),
            nullable=False,
            comment="A sequence, shared with other destinations: used once a lane was opened, so receives read lanes.",
        ),
        sa.Column("main_rank", sa.SmallInteger(), nullable=False, comment="Rank of the main lane."),
        sa.Column(
            "senders",
            postgresql.ARRAY(sa.Text()),
            nullable=False,
            comment="Copy of destination_grants for the verb send, by trigger.",
        ),
        sa.Column(
            "receivers",
            postgresql.ARRAY(sa.Text()),
            nullable=False,
            comment="Copy of destination_grants for the verb receive, by trigger.",
        ),
        sa.Column(
            "failing",
            postgresql.REGCLASS(),
            nullable=False,
            comment="A sequence, shared with other destinations: used once a failure was recorded, so receives count failures.",
        ),
        sa.Column(
            "journal_level_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="When journal_level was last set: an audit trusts records from then on.",
        ),
        sa.CheckConstraint(
            "(exception_mode = 'named') = (exception_queue IS NOT NULL)", name=op.f("ck_destinations_exception_queue")
        ),
        sa.CheckConstraint(
            "exception_mode IN ('system', 'named', 'none')", name=op.f("ck_destinations_exception_mode")
        ),
        sa.CheckConstraint("journal_level IN ('off', 'exits', 'full')", name=op.f("ck_destinations_journal_level")),
        sa.CheckConstraint("kind IN ('queue', 'topic')", name=op.f("ck_destinations_kind")),
        sa.CheckConstraint("default_priority BETWEEN 0 AND 9", name=op.f("ck_destinations_default_priority")),
        sa.CheckConstraint("default_time_to_live_ms > 0", name=op.f("ck_destinations_default_time_to_live_ms")),
        sa.CheckConstraint("max_failed_deliveries >= 0", name=op.f("ck_destinations_max_failed_deliveries")),
        sa.CheckConstraint("max_message_bytes > 0", name=op.f("ck_destinations_max_message_bytes")),
        sa.CheckConstraint("redelivery_delay_ms >= 0 AND blocked_retry_ms >= 0", name=op.f("ck_destinations_delays")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_destinations")),
        schema="howdah",
        comment="Queues and topics, with the policies that govern their messages.",
    )
    op.create_index(
        "uq_destinations_name",
        "destinations",
        ["name"],
        unique=True,
        schema="howdah",
        postgresql_where=sa.text("dropped_at IS NULL"),
    )
    op.create_table(
        "engine",
        sa.Column(
            "id",
            sa.SmallInteger(),
            autoincrement=False,
            nullable=False,
            comment="Always 1: there is one engine in a database.",
        ),
        sa.Column(
            "name",
            sa.Text(),
            nullable=False,
            comment="The messaging engine's name, part of its exception destination's name.",
        ),
        sa.Column(
            "procedures_checksum",
            sa.Text(),
            nullable=False,
            comment="Checksum of the installed procedures and role names.",
        ),
        sa.Column("admin_role", sa.Text(), nullable=False, comment="Role that administers destinations."),
        sa.Column("producer_role", sa.Text(), nullable=False, comment="Role that sends."),
        sa.Column("consumer_role", sa.Text(), nullable=False, comment="Role that receives and records failures."),
        sa.Column("browser_role", sa.Text(), nullable=False, comment="Role that looks without taking."),
        sa.Column("auditor_role", sa.Text(), nullable=False, comment="Role that reads the audit views."),
        sa.Column(
            "boot",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="Start of the server at which non-persistent messages were last swept.",
        ),
        sa.Column(
            "totals_snapshot",
            PgSnapshot(),
            nullable=True,
            comment="journal_totals holds the journal rows visible in this snapshot.",
        ),
        sa.Column(
            "totals_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="When journal_totals was last brought up.",
        ),
        sa.Column(
            "journal_retention_days",
            sa.Integer(),
            server_default="90",
            nullable=False,
            comment="Days that journal rows are kept, at least.",
        ),
        sa.CheckConstraint("id = 1", name=op.f("ck_engine_single_row")),
        sa.CheckConstraint("journal_retention_days > 0", name=op.f("ck_engine_journal_retention_days")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_engine")),
        schema="howdah",
        comment="The engine's settings, one row.",
    )
    op.create_table(
        "journal",
        sa.Column(
            "at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="When it happened; partitions are ranges of this.",
        ),
        sa.Column(
            "xid",
            sa.BigInteger(),
            server_default=sa.text("pg_current_xact_id()::text::bigint"),
            nullable=False,
            comment="The transaction (xid8 as a number), so that a reader by snapshots misses no late commit.",
        ),
        sa.Column(
            "destination_id",
            sa.Integer(),
            nullable=False,
            comment="The destination the messages were in (for sent: came into).",
        ),
        sa.Column(
            "other_destination_id", sa.Integer(), nullable=True, comment="Where moved or replayed messages went."
        ),
        sa.Column(
            "nonpersistent",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="The messages were non-persistent ones.",
        ),
        sa.Column(
            "event", sa.Text(), nullable=False, comment="sent, consumed, expired, discarded, moved, replayed or lost."
        ),
        sa.Column("reason", sa.Text(), nullable=True, comment="Why, for discarded, moved and lost."),
        sa.Column(
            "message_ids", postgresql.ARRAY(sa.BigInteger()), nullable=False, comment="The messages of one call."
        ),
        schema="howdah",
        comment="What became of the messages: one row for each call, INSERT-only, partitioned by week.",
        postgresql_partition_by="RANGE (at)",
    )
    op.create_index(
        "ix_journal_xid",
        "journal",
        ["xid"],
        unique=False,
        schema="howdah",
        postgresql_using="brin",
        postgresql_with={"pages_per_range": 32},
    )
    op.create_table(
        "journal_totals",
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The destination."),
        sa.Column(
            "event",
            sa.Text(),
            nullable=False,
            comment="As in journal; moved_in and replayed_in count at the receiving destination.",
        ),
        sa.Column(
            "messages",
            sa.BigInteger(),
            nullable=False,
            comment="Messages counted so far, up to engine.totals_snapshot.",
        ),
        sa.PrimaryKeyConstraint("destination_id", "event", name=op.f("pk_journal_totals")),
        schema="howdah",
        comment="The journal folded into one number for each destination and event, so that statistics need not read it all.",
    )
    op.create_table(
        "lanes",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="Number of the lane, part of its sequences' names.",
        ),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The destination."),
        sa.Column("rank", sa.SmallInteger(), nullable=False, comment="9 minus the priority of its messages."),
        sa.Column(
            "place",
            sa.SmallInteger(),
            nullable=False,
            comment="Where its messages lie: 0 parked, 1 msgs_nonpersistent, 2 msgs.",
        ),
        sa.Column(
            "head",
            postgresql.REGCLASS(),
            nullable=True,
            comment="A sequence, a hint: the position behind which claims look. NULL: none, claims begin at the beginning.",
        ),
        sa.Column(
            "search",
            postgresql.REGCLASS(),
            nullable=True,
            comment="A sequence, a hint: how far the search behind the head is, times 2^20, and when its next step is due, in ms.",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lanes")),
        schema="howdah",
        comment="Where receives look for messages besides the main lane: a row for each other priority and place in use. INSERT-only for senders, who add"
        " the row in the transaction of the first such message; several rows for one lane do no harm.",
    )
    op.create_index("ix_lanes_destination", "lanes", ["destination_id", "rank", "place"], unique=False, schema="howdah")
    op.create_table(
        "lock",
        sa.Column(
            "id",
            sa.Integer(),
            sa.Identity(always=True),
            nullable=False,
            comment="Number of the lease; 1 is the maintenance leader's.",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="What the lease is for."),
        sa.Column("holder", sa.Text(), nullable=True, comment="Who holds it. NULL: nobody."),
        sa.Column(
            "epoch",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Fencing token: grows by one at each change of holder.",
        ),
        sa.Column(
            "expires_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="The lease is void from this time on, by the database's clock.",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lock")),
        schema="howdah",
        comment="Named leases with fencing epochs.",
    )
    op.create_index("uq_lock_name", "lock", ["name"], unique=True, schema="howdah")
    op.create_table(
        "msgs",
        sa.Column(
            "seq",
            sa.BigInteger(),
            nullable=False,
            comment="Position in the queue, from the destination's sequence.",
        ),
        sa.Column(
            "message_id",
            sa.BigInteger(),
            nullable=False,
            comment="Identity of the message for its whole life: its first position times 1,000,000 plus its first destination_id.",
        ),
        sa.Column(
            "sent_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="When send was called (JMSTimestamp).",
        ),
        sa.Column(
            "expires_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="Never delivered at or after this time (JMSExpiration). NULL: never expires.",
        ),
        sa.Column(
            "dead_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="When the message was moved to an exception destination. NULL: it was not.",
        ),
        sa.Column(
            "destination_id", sa.Integer(), nullable=False, comment="The destination that holds the message now."
        ),
        sa.Column(
            "origin_id",
            sa.Integer(),
            nullable=True,
            comment="The destination it was moved from to an exception destination. NULL: never moved.",
        ),
        sa.Column(
            "rank",
            sa.SmallInteger(),
            nullable=False,
            comment="9 minus the priority, so that ascending order is delivery order.",
        ),
        sa.Column(
            "stage",
            sa.SmallInteger(),
            server_default="0",
            nullable=False,
            comment="How often the message was moved or replayed. Failures count within a stage.",
        ),
        sa.Column(
            "is_text",
            sa.Boolean(),
            nullable=False,
            comment="True: body is UTF-8 text or JSON and is returned as text. False: bytes.",
        ),
        sa.Column("content_type", sa.Text(), nullable=False, comment="MIME type of the body."),
        sa.Column(
            "body", sa.LargeBinary(), nullable=False, comment="The exact bytes of the body; text is stored as UTF-8."
        ),
        sa.Column(
            "headers",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="Application properties, a JSON object. NULL: none.",
        ),
        sa.Column("correlation_id", sa.Text(), nullable=True, comment="JMSCorrelationID."),
        sa.Column("reply_to", sa.Text(), nullable=True, comment="JMSReplyTo: name of the destination for answers."),
        sa.Column("message_type", sa.Text(), nullable=True, comment="JMSType; workers choose the handler by it."),
        sa.Column(
            "conversation_id", sa.UUID(), nullable=True, comment="The conversation (dialog) the message belongs to."
        ),
        sa.Column(
            "dead_reason", sa.Text(), nullable=True, comment="Why the message was moved to an exception destination."
        ),
        sa.PrimaryKeyConstraint("destination_id", "rank", "seq", name=op.f("pk_msgs")),
        schema="howdah",
        comment="Messages ready for delivery. A receive deletes the row in the consumer's transaction; no row is ever updated.",
    )
    op.create_table(
        "msgs_nonpersistent",
        sa.Column(
            "seq",
            sa.BigInteger(),
            nullable=False,
            comment="Position in the queue, from the destination's sequence.",
        ),
        sa.Column(
            "message_id",
            sa.BigInteger(),
            nullable=False,
            comment="Identity of the message for its whole life: its first position times 1,000,000 plus its first destination_id.",
        ),
        sa.Column(
            "sent_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="When send was called (JMSTimestamp).",
        ),
        sa.Column(
            "expires_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="Never delivered at or after this time (JMSExpiration). NULL: never expires.",
        ),
        sa.Column(
            "dead_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="When the message was moved to an exception destination. NULL: it was not.",
        ),
        sa.Column(
            "destination_id", sa.Integer(), nullable=False, comment="The destination that holds the message now."
        ),
        sa.Column(
            "origin_id",
            sa.Integer(),
            nullable=True,
            comment="The destination it was moved from to an exception destination. NULL: never moved.",
        ),
        sa.Column(
            "rank",
            sa.SmallInteger(),
            nullable=False,
            comment="9 minus the priority, so that ascending order is delivery order.",
        ),
        sa.Column(
            "stage",
            sa.SmallInteger(),
            server_default="0",
            nullable=False,
            comment="How often the message was moved or replayed. Failures count within a stage.",
        ),
        sa.Column(
            "is_text",
            sa.Boolean(),
            nullable=False,
            comment="True: body is UTF-8 text or JSON and is returned as text. False: bytes.",
        ),
        sa.Column("content_type", sa.Text(), nullable=False, comment="MIME type of the body."),
        sa.Column(
            "body", sa.LargeBinary(), nullable=False, comment="The exact bytes of the body; text is stored as UTF-8."
        ),
        sa.Column(
            "headers",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="Application properties, a JSON object. NULL: none.",
        ),
        sa.Column("correlation_id", sa.Text(), nullable=True, comment="JMSCorrelationID."),
        sa.Column("reply_to", sa.Text(), nullable=True, comment="JMSReplyTo: name of the destination for answers."),
        sa.Column("message_type", sa.Text(), nullable=True, comment="JMSType; workers choose the handler by it."),
        sa.Column(
            "conversation_id", sa.UUID(), nullable=True, comment="The conversation (dialog) the message belongs to."
        ),
        sa.Column(
            "dead_reason", sa.Text(), nullable=True, comment="Why the message was moved to an exception destination."
        ),
        sa.Column(
            "boot",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="Start of the server that took the message: any other server start has lost it.",
        ),
        sa.PrimaryKeyConstraint("destination_id", "rank", "seq", name=op.f("pk_msgs_nonpersistent")),
        schema="howdah",
        comment="Non-persistent messages ready for delivery: no WAL, lost at every restart of the server.",
        prefixes=["UNLOGGED"],
    )
    op.create_table(
        "parked",
        sa.Column(
            "seq",
            sa.BigInteger(),
            nullable=False,
            comment="Position in the queue, from the destination's sequence.",
        ),
        sa.Column(
            "message_id",
            sa.BigInteger(),
            nullable=False,
            comment="Identity of the message for its whole life: its first position times 1,000,000 plus its first destination_id.",
        ),
        sa.Column(
            "sent_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="When send was called (JMSTimestamp).",
        ),
        sa.Column(
            "expires_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="Never delivered at or after this time (JMSExpiration). NULL: never expires.",
        ),
        sa.Column(
            "dead_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="When the message was moved to an exception destination. NULL: it was not.",
        ),
        sa.Column(
            "destination_id", sa.Integer(), nullable=False, comment="The destination that holds the message now."
        ),
        sa.Column(
            "origin_id",
            sa.Integer(),
            nullable=True,
            comment="The destination it was moved from to an exception destination. NULL: never moved.",
        ),
        sa.Column(
            "rank",
            sa.SmallInteger(),
            nullable=False,
            comment="9 minus the priority, so that ascending order is delivery order.",
        ),
        sa.Column(
            "stage",
            sa.SmallInteger(),
            server_default="0",
            nullable=False,
            comment="How often the message was moved or replayed. Failures count within a stage.",
        ),
        sa.Column(
            "is_text",
            sa.Boolean(),
            nullable=False,
            comment="True: body is UTF-8 text or JSON and is returned as text. False: bytes.",
        ),
        sa.Column("content_type", sa.Text(), nullable=False, comment="MIME type of the body."),
        sa.Column(
            "body", sa.LargeBinary(), nullable=False, comment="The exact bytes of the body; text is stored as UTF-8."
        ),
        sa.Column(
            "headers",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="Application properties, a JSON object. NULL: none.",
        ),
        sa.Column("correlation_id", sa.Text(), nullable=True, comment="JMSCorrelationID."),
        sa.Column("reply_to", sa.Text(), nullable=True, comment="JMSReplyTo: name of the destination for answers."),
        sa.Column("message_type", sa.Text(), nullable=True, comment="JMSType; workers choose the handler by it."),
        sa.Column(
            "conversation_id", sa.UUID(), nullable=True, comment="The conversation (dialog) the message belongs to."
        ),
        sa.Column(
            "dead_reason", sa.Text(), nullable=True, comment="Why the message was moved to an exception destination."
        ),
        sa.Column(
            "due_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="From this time on a receive may claim the message.",
        ),
        sa.Column(
            "parked_reason",
            sa.Text(),
            nullable=False,
            comment="delay (sent so), redelivery (after a failure) or blocked (past its limit).",
        ),
        sa.Column(
            "boot",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="For a non-persistent message the start of the server that took it; NULL: persistent.",
        ),
        sa.CheckConstraint("parked_reason IN ('delay', 'redelivery', 'blocked')", name=op.f("ck_parked_reason")),
        sa.PrimaryKeyConstraint("destination_id", "message_id", name=op.f("pk_parked")),
        schema="howdah",
        comment="Messages that wait for a time, kept out of the way of claims. A receive takes due ones straight from here.",
    )
    op.create_index(
        "ix_parked_due", "parked", ["destination_id", "rank", "due_at", "seq"], unique=False, schema="howdah"
    )
    op.create_table(
        "poison_details",
        sa.Column(
            "incident_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Number of the incident."
        ),
        sa.Column("message_id", sa.BigInteger(), nullable=False, comment="The message whose delivery failed."),
        sa.Column(
            "recorded_at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When the failure was recorded."
        ),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The destination it was received from."),
        sa.Column(
            "attempt", sa.Integer(), nullable=False, comment="Which failed delivery of this stage it was, from 1."
        ),
        sa.Column("duration_ms", sa.Integer(), nullable=True, comment="How long the handler ran, in milliseconds."),
        sa.Column(
            "stage",
            sa.SmallInteger(),
            nullable=False,
            comment="The message's stage at that time; failures count within a stage.",
        ),
        sa.Column(
            "outcome",
            sa.Text(),
            nullable=False,
            comment="What followed: returned, delayed, blocked, moved, held (another session has it) or gone.",
        ),
        sa.Column("conversation_id", sa.UUID(), nullable=True, comment="The conversation of the message."),
        sa.Column(
            "failure_key",
            sa.UUID(),
            nullable=True,
            comment="Chosen by the recorder, so that recording the same failure twice counts once.",
        ),
        sa.Column("error_class", sa.Text(), nullable=True, comment="Class of the error, such as ValueError."),
        sa.Column("error_text", sa.Text(), nullable=True, comment="The error's message."),
        sa.Column("sqlstate", sa.Text(), nullable=True, comment="SQLSTATE, where the error came from PostgreSQL."),
        sa.Column("traceback", sa.Text(), nullable=True, comment="Where the error was raised."),
        sa.Column("worker", sa.Text(), nullable=True, comment="Name of the worker that failed."),
        sa.Column("recorded_by", sa.Text(), nullable=False, comment="The role that recorded the failure."),
        sa.Column(
            "details",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="Anything else the recorder wished to keep, a JSON object.",
        ),
        sa.CheckConstraint(
            "outcome IN ('returned', 'delayed', 'blocked', 'moved', 'held', 'gone')",
            name=op.f("ck_poison_details_outcome"),
        ),
        sa.PrimaryKeyConstraint("incident_id", name=op.f("pk_poison_details")),
        schema="howdah",
        comment="One row for each failed delivery. INSERT-only; written in a transaction of its own so that no rollback erases it.",
    )
    op.create_index(
        "ix_poison_details_conversation", "poison_details", ["conversation_id"], unique=False, schema="howdah"
    )
    op.create_index(
        "ix_poison_details_message",
        "poison_details",
        ["message_id", "stage", "destination_id"],
        unique=False,
        schema="howdah",
    )
    op.create_index("uq_poison_details_failure_key", "poison_details", ["failure_key"], unique=True, schema="howdah")
    op.create_table(
        "workers",
        sa.Column("worker_id", sa.UUID(), nullable=False, comment="Identity of one worker process's life."),
        sa.Column("name", sa.Text(), nullable=False, comment="Name for people: host, application and process id."),
        sa.Column("host", sa.Text(), nullable=False, comment="Host it runs on."),
        sa.Column("pid", sa.Integer(), nullable=False, comment="Process id there."),
        sa.Column("sessions", sa.Integer(), nullable=False, comment="Sessions (threads) it runs."),
        sa.Column(
            "queues", postgresql.ARRAY(sa.Text()), nullable=False, comment="Names of the queues it receives from."
        ),
        sa.Column("started_at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When it registered."),
        sa.Column(
            "heartbeat_at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When it was last heard of."
        ),
        sa.Column(
            "in_hand",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="Messages in its hands at the last heartbeat: an object of queue name to count.",
        ),
        sa.PrimaryKeyConstraint("worker_id", name=op.f("pk_workers")),
        schema="howdah",
        comment="Live worker processes, by heartbeat.",
    )
    op.create_table(
        "destination_grants",
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The destination."),
        sa.Column("verb", sa.Text(), nullable=False, comment="What is allowed: send, receive, browse or admin."),
        sa.Column("role_name", sa.Text(), nullable=False, comment="The role that may; its members may too."),
        sa.CheckConstraint("verb IN ('send', 'receive', 'browse', 'admin')", name=op.f("ck_destination_grants_verb")),
        sa.ForeignKeyConstraint(
            ["destination_id"], ["howdah.destinations.id"], name="fk_destination_grants_destination"
        ),
        sa.PrimaryKeyConstraint("destination_id", "verb", "role_name", name=op.f("pk_destination_grants")),
        schema="howdah",
        comment="Who may do what with a destination.",
    )
    op.execute("CREATE TABLE howdah.journal_default PARTITION OF howdah.journal DEFAULT")
    op.execute(
        "COMMENT ON TABLE howdah.journal_default IS 'Journal rows of weeks that have no partition of their own.'"
    )
    op.execute(MESSAGE)
    op.execute(MESSAGE_COMMENT)
    op.execute(CLAIMED)
    op.execute(CLAIMED_COMMENT)
    op.execute(COMPRESSION)


def downgrade() -> None:
    """Remove everything, procedures and views included; the schema and the roles stay."""
    op.execute(DROP_PROCEDURES)
    op.drop_table("destination_grants", schema="howdah")
    op.drop_table("workers", schema="howdah")
    op.drop_table("poison_details", schema="howdah")
    op.drop_table("parked", schema="howdah")
    op.drop_table("msgs_nonpersistent", schema="howdah")
    op.drop_table("msgs", schema="howdah")
    op.drop_table("lanes", schema="howdah")
    op.drop_table("lock", schema="howdah")
    op.drop_table("journal_totals", schema="howdah")
    op.drop_table("journal", schema="howdah")
    op.drop_table("engine", schema="howdah")
    op.drop_table("destinations", schema="howdah")
    op.drop_table("backlog_figures", schema="howdah")
    op.drop_table("dead_figures", schema="howdah")
    op.drop_table("acks", schema="howdah")
    op.execute("DROP TYPE howdah.message, howdah.claimed")
    op.execute(DROP_SEQUENCES)
