"""Create topics: their messages, subscriptions and cursors.

Revision: 0006, after 0005. The table acks of revision 0001 was never filled: nothing could subscribe yet.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import UserDefinedType

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


class PgSnapshot(UserDefinedType[str]):
    """PostgreSQL's pg_snapshot."""

    cache_ok = True

    def get_col_spec(self, **options: Any) -> str:
        """The type's name in DDL."""
        return "PG_SNAPSHOT"


class Xid8(UserDefinedType[str]):
    """PostgreSQL's xid8."""

    cache_ok = True

    def get_col_spec(self, **options: Any) -> str:
        """The type's name in DDL."""
        return "XID8"


def upgrade() -> None:
    """Add the tables, and the kinds of destination that use them."""
    for name in ("topic_generation", "topic_truncations", "topic_checked"):
        op.execute(f"CREATE SEQUENCE howdah.{name} MINVALUE 0 START 0")
    op.execute("DROP TABLE howdah.acks CASCADE")  # and the view that shows it, which is replaced with the procedures
    op.drop_constraint(op.f("ck_destinations_kind"), "destinations", schema="howdah")
    op.create_check_constraint(
        op.f("ck_destinations_kind"), "destinations", "kind IN ('queue', 'topic', 'subscription')", schema="howdah"
    )
    op.create_table(
        "ack_cursors",
        sa.Column("ack_id", sa.Integer(), nullable=False, comment="The cursor (acks.id)."),
        sa.Column("n", sa.BigInteger(), nullable=False, comment="Number of the step, from 0; the highest one holds."),
        sa.Column(
            "xid", Xid8(), nullable=False, comment="A transaction that is passed in part: its messages up to seq."
        ),
        sa.Column(
            "seq",
            sa.BigInteger(),
            nullable=False,
            comment="Position in the topic up to which xid is passed; -1: nothing of it.",
        ),
        sa.Column(
            "delivered", sa.BigInteger(), nullable=False, comment="Messages delivered since the subscription was made."
        ),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When the step was made."),
        sa.Column(
            "snapshot", PgSnapshot(), nullable=False, comment="Messages of all transactions visible in it are passed."
        ),
        sa.PrimaryKeyConstraint("ack_id", "n", name=op.f("pk_ack_cursors")),
        schema="howdah",
        comment="Where each cursor stands: INSERT-only for consumers, so that no old snapshot makes it slow; old steps are deleted later.",
    )
    op.create_table(
        "acked",
        sa.Column("ack_id", sa.Integer(), nullable=False, comment="The cursor (acks.id)."),
        sa.Column("seq", sa.BigInteger(), nullable=False, comment="Position in the topic."),
        sa.Column("xid", Xid8(), nullable=False, comment="The publisher's transaction."),
        sa.PrimaryKeyConstraint("ack_id", "seq", name=op.f("pk_acked")),
        schema="howdah",
        comment="Messages that a cursor has not passed, but that are done with: acknowledged out of order, or set aside.",
    )
    op.create_table(
        "acks",
        sa.Column("id", sa.Integer(), sa.Identity(always=True), nullable=False, comment="Number of the cursor."),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The topic subscribed to."),
        sa.Column("subscription_id", sa.Integer(), nullable=False, comment="The subscription (destinations.id)."),
        sa.Column(
            "priority",
            sa.SmallInteger(),
            server_default="0",
            nullable=False,
            comment="Priority the cursor is for, in prioritised subscriptions; else 0.",
        ),
        sa.Column("client_id", sa.Text(), nullable=False, comment="Client id of the subscriber."),
        sa.Column(
            "subscription_name",
            sa.Text(),
            nullable=False,
            comment="Name of the durable subscription; with ~ before it that of a non-durable one.",
        ),
        sa.Column("selector", sa.Text(), nullable=True, comment="Message selector. NULL: all messages."),
        sa.PrimaryKeyConstraint("destination_id", "client_id", "subscription_name", "priority", name=op.f("pk_acks")),
        schema="howdah",
        comment="Which subscription reads which topic: a row for each topic, and for each priority if it is prioritised.",
    )
    op.create_index("ix_acks_subscription", "acks", ["subscription_id"], unique=False, schema="howdah")
    op.create_index("uq_acks_id", "acks", ["id"], unique=True, schema="howdah")
    op.create_table(
        "bridges",
        sa.Column("topic_id", sa.Integer(), autoincrement=False, nullable=False, comment="The topic."),
        sa.Column(
            "queue_id",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="The queue that gets a message of each.",
        ),
        sa.Column("selector", sa.Text(), nullable=True, comment="JMS selector. NULL: all messages."),
        sa.Column("selector_sql", sa.Text(), nullable=True, comment="The selector as compiled."),
        sa.PrimaryKeyConstraint("topic_id", "queue_id", name=op.f("pk_bridges")),
        schema="howdah",
        comment="Topics whose messages go on into queues; virtual topics' too.",
    )
    op.create_table(
        "topic_msgs_0",
        sa.Column(
            "xid",
            Xid8(),
            server_default=sa.text("pg_current_xact_id()"),
            nullable=False,
            comment="The publisher's transaction, by which cursors know what they have passed.",
        ),
        sa.Column(
            "seq", sa.BigInteger(), nullable=False, comment="Position in the topic, from the destination's sequence."
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
            comment="Never delivered at or after this time. NULL: never expires.",
        ),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The topic."),
        sa.Column("rank", sa.SmallInteger(), nullable=False, comment="9 minus the priority."),
        sa.Column("is_text", sa.Boolean(), nullable=False, comment="True: body is UTF-8 text or JSON. False: bytes."),
        sa.Column("content_type", sa.Text(), nullable=False, comment="MIME type of the body."),
        sa.Column("body", sa.LargeBinary(), nullable=False, comment="The exact bytes of the body."),
        sa.Column(
            "headers",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="Application properties, a JSON object. NULL: none.",
        ),
        sa.Column("correlation_id", sa.Text(), nullable=True, comment="JMSCorrelationID."),
        sa.Column("reply_to", sa.Text(), nullable=True, comment="JMSReplyTo: name of the destination for answers."),
        sa.Column("message_type", sa.Text(), nullable=True, comment="JMSType."),
        sa.Column(
            "conversation_id", sa.UUID(), nullable=True, comment="The conversation (dialog) the message belongs to."
        ),
        sa.Column(
            "client_id",
            sa.Text(),
            nullable=True,
            comment="Client id of the publisher's session (howdah.set_client_id), for no_local.",
        ),
        sa.PrimaryKeyConstraint("destination_id", "xid", "seq", name=op.f("pk_topic_msgs_0")),
        schema="howdah",
        comment="Topic messages, one stored copy each: INSERT-only, emptied by TRUNCATE once nobody needs them.",
    )
    op.create_table(
        "topic_msgs_1",
        sa.Column(
            "xid",
            Xid8(),
            server_default=sa.text("pg_current_xact_id()"),
            nullable=False,
            comment="The publisher's transaction, by which cursors know what they have passed.",
        ),
        sa.Column(
            "seq", sa.BigInteger(), nullable=False, comment="Position in the topic, from the destination's sequence."
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
            comment="Never delivered at or after this time. NULL: never expires.",
        ),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The topic."),
        sa.Column("rank", sa.SmallInteger(), nullable=False, comment="9 minus the priority."),
        sa.Column("is_text", sa.Boolean(), nullable=False, comment="True: body is UTF-8 text or JSON. False: bytes."),
        sa.Column("content_type", sa.Text(), nullable=False, comment="MIME type of the body."),
        sa.Column("body", sa.LargeBinary(), nullable=False, comment="The exact bytes of the body."),
        sa.Column(
            "headers",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="Application properties, a JSON object. NULL: none.",
        ),
        sa.Column("correlation_id", sa.Text(), nullable=True, comment="JMSCorrelationID."),
        sa.Column("reply_to", sa.Text(), nullable=True, comment="JMSReplyTo: name of the destination for answers."),
        sa.Column("message_type", sa.Text(), nullable=True, comment="JMSType."),
        sa.Column(
            "conversation_id", sa.UUID(), nullable=True, comment="The conversation (dialog) the message belongs to."
        ),
        sa.Column(
            "client_id",
            sa.Text(),
            nullable=True,
            comment="Client id of the publisher's session (howdah.set_client_id), for no_local.",
        ),
        sa.PrimaryKeyConstraint("destination_id", "xid", "seq", name=op.f("pk_topic_msgs_1")),
        schema="howdah",
        comment="Topic messages, one stored copy each: INSERT-only, emptied by TRUNCATE once nobody needs them.",
    )
    op.create_table(
        "topic_msgs_2",
        sa.Column(
            "xid",
            Xid8(),
            server_default=sa.text("pg_current_xact_id()"),
            nullable=False,
            comment="The publisher's transaction, by which cursors know what they have passed.",
        ),
        sa.Column(
            "seq", sa.BigInteger(), nullable=False, comment="Position in the topic, from the destination's sequence."
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
            comment="Never delivered at or after this time. NULL: never expires.",
        ),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The topic."),
        sa.Column("rank", sa.SmallInteger(), nullable=False, comment="9 minus the priority."),
        sa.Column("is_text", sa.Boolean(), nullable=False, comment="True: body is UTF-8 text or JSON. False: bytes."),
        sa.Column("content_type", sa.Text(), nullable=False, comment="MIME type of the body."),
        sa.Column("body", sa.LargeBinary(), nullable=False, comment="The exact bytes of the body."),
        sa.Column(
            "headers",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="Application properties, a JSON object. NULL: none.",
        ),
        sa.Column("correlation_id", sa.Text(), nullable=True, comment="JMSCorrelationID."),
        sa.Column("reply_to", sa.Text(), nullable=True, comment="JMSReplyTo: name of the destination for answers."),
        sa.Column("message_type", sa.Text(), nullable=True, comment="JMSType."),
        sa.Column(
            "conversation_id", sa.UUID(), nullable=True, comment="The conversation (dialog) the message belongs to."
        ),
        sa.Column(
            "client_id",
            sa.Text(),
            nullable=True,
            comment="Client id of the publisher's session (howdah.set_client_id), for no_local.",
        ),
        sa.PrimaryKeyConstraint("destination_id", "xid", "seq", name=op.f("pk_topic_msgs_2")),
        schema="howdah",
        comment="Topic messages, one stored copy each: INSERT-only, emptied by TRUNCATE once nobody needs them.",
    )
    op.create_table(
        "topic_nonpersistent_0",
        sa.Column(
            "xid",
            Xid8(),
            server_default=sa.text("pg_current_xact_id()"),
            nullable=False,
            comment="The publisher's transaction, by which cursors know what they have passed.",
        ),
        sa.Column(
            "seq", sa.BigInteger(), nullable=False, comment="Position in the topic, from the destination's sequence."
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
            comment="Never delivered at or after this time. NULL: never expires.",
        ),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The topic."),
        sa.Column("rank", sa.SmallInteger(), nullable=False, comment="9 minus the priority."),
        sa.Column("is_text", sa.Boolean(), nullable=False, comment="True: body is UTF-8 text or JSON. False: bytes."),
        sa.Column("content_type", sa.Text(), nullable=False, comment="MIME type of the body."),
        sa.Column("body", sa.LargeBinary(), nullable=False, comment="The exact bytes of the body."),
        sa.Column(
            "headers",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="Application properties, a JSON object. NULL: none.",
        ),
        sa.Column("correlation_id", sa.Text(), nullable=True, comment="JMSCorrelationID."),
        sa.Column("reply_to", sa.Text(), nullable=True, comment="JMSReplyTo: name of the destination for answers."),
        sa.Column("message_type", sa.Text(), nullable=True, comment="JMSType."),
        sa.Column(
            "conversation_id", sa.UUID(), nullable=True, comment="The conversation (dialog) the message belongs to."
        ),
        sa.Column(
            "client_id",
            sa.Text(),
            nullable=True,
            comment="Client id of the publisher's session (howdah.set_client_id), for no_local.",
        ),
        sa.Column(
            "boot",
            postgresql.TIMESTAMP(timezone=True),
            server_default=sa.text("pg_postmaster_start_time()"),
            nullable=False,
            comment="Start of the server that took the message: any other server start has lost it.",
        ),
        sa.PrimaryKeyConstraint("destination_id", "xid", "seq", name=op.f("pk_topic_nonpersistent_0")),
        schema="howdah",
        comment="Non-persistent topic messages: no WAL, lost at every restart of the server.",
        prefixes=["UNLOGGED"],
    )
    op.create_table(
        "topic_nonpersistent_1",
        sa.Column(
            "xid",
            Xid8(),
            server_default=sa.text("pg_current_xact_id()"),
            nullable=False,
            comment="The publisher's transaction, by which cursors know what they have passed.",
        ),
        sa.Column(
            "seq", sa.BigInteger(), nullable=False, comment="Position in the topic, from the destination's sequence."
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
            comment="Never delivered at or after this time. NULL: never expires.",
        ),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The topic."),
        sa.Column("rank", sa.SmallInteger(), nullable=False, comment="9 minus the priority."),
        sa.Column("is_text", sa.Boolean(), nullable=False, comment="True: body is UTF-8 text or JSON. False: bytes."),
        sa.Column("content_type", sa.Text(), nullable=False, comment="MIME type of the body."),
        sa.Column("body", sa.LargeBinary(), nullable=False, comment="The exact bytes of the body."),
        sa.Column(
            "headers",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="Application properties, a JSON object. NULL: none.",
        ),
        sa.Column("correlation_id", sa.Text(), nullable=True, comment="JMSCorrelationID."),
        sa.Column("reply_to", sa.Text(), nullable=True, comment="JMSReplyTo: name of the destination for answers."),
        sa.Column("message_type", sa.Text(), nullable=True, comment="JMSType."),
        sa.Column(
            "conversation_id", sa.UUID(), nullable=True, comment="The conversation (dialog) the message belongs to."
        ),
        sa.Column(
            "client_id",
            sa.Text(),
            nullable=True,
            comment="Client id of the publisher's session (howdah.set_client_id), for no_local.",
        ),
        sa.Column(
            "boot",
            postgresql.TIMESTAMP(timezone=True),
            server_default=sa.text("pg_postmaster_start_time()"),
            nullable=False,
            comment="Start of the server that took the message: any other server start has lost it.",
        ),
        sa.PrimaryKeyConstraint("destination_id", "xid", "seq", name=op.f("pk_topic_nonpersistent_1")),
        schema="howdah",
        comment="Non-persistent topic messages: no WAL, lost at every restart of the server.",
        prefixes=["UNLOGGED"],
    )
    op.create_table(
        "topic_nonpersistent_2",
        sa.Column(
            "xid",
            Xid8(),
            server_default=sa.text("pg_current_xact_id()"),
            nullable=False,
            comment="The publisher's transaction, by which cursors know what they have passed.",
        ),
        sa.Column(
            "seq", sa.BigInteger(), nullable=False, comment="Position in the topic, from the destination's sequence."
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
            comment="Never delivered at or after this time. NULL: never expires.",
        ),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The topic."),
        sa.Column("rank", sa.SmallInteger(), nullable=False, comment="9 minus the priority."),
        sa.Column("is_text", sa.Boolean(), nullable=False, comment="True: body is UTF-8 text or JSON. False: bytes."),
        sa.Column("content_type", sa.Text(), nullable=False, comment="MIME type of the body."),
        sa.Column("body", sa.LargeBinary(), nullable=False, comment="The exact bytes of the body."),
        sa.Column(
            "headers",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="Application properties, a JSON object. NULL: none.",
        ),
        sa.Column("correlation_id", sa.Text(), nullable=True, comment="JMSCorrelationID."),
        sa.Column("reply_to", sa.Text(), nullable=True, comment="JMSReplyTo: name of the destination for answers."),
        sa.Column("message_type", sa.Text(), nullable=True, comment="JMSType."),
        sa.Column(
            "conversation_id", sa.UUID(), nullable=True, comment="The conversation (dialog) the message belongs to."
        ),
        sa.Column(
            "client_id",
            sa.Text(),
            nullable=True,
            comment="Client id of the publisher's session (howdah.set_client_id), for no_local.",
        ),
        sa.Column(
            "boot",
            postgresql.TIMESTAMP(timezone=True),
            server_default=sa.text("pg_postmaster_start_time()"),
            nullable=False,
            comment="Start of the server that took the message: any other server start has lost it.",
        ),
        sa.PrimaryKeyConstraint("destination_id", "xid", "seq", name=op.f("pk_topic_nonpersistent_2")),
        schema="howdah",
        comment="Non-persistent topic messages: no WAL, lost at every restart of the server.",
        prefixes=["UNLOGGED"],
    )
    op.create_table(
        "topic_ring",
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False, comment="Number of the tables, 0 to 2."),
        sa.Column(
            "generation",
            sa.BigInteger(),
            nullable=False,
            comment="How often the ring had been turned when it was opened.",
        ),
        sa.Column(
            "state", sa.Text(), nullable=False, comment="open, closing (writers may still be at work), closed or empty."
        ),
        sa.Column(
            "closed_xid",
            Xid8(),
            nullable=True,
            comment="When it was closed: all transactions with rows in it are older, and ended.",
        ),
        sa.Column(
            "opened_at", postgresql.TIMESTAMP(timezone=True), nullable=True, comment="When it was opened. NULL: never."
        ),
        sa.Column(
            "closed_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="When it was closed. NULL: it is not.",
        ),
        sa.Column(
            "truncations",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Value of topic_truncations when it was emptied last.",
        ),
        sa.CheckConstraint("state IN ('open', 'closing', 'closed', 'empty')", name=op.f("ck_topic_ring_state")),
        sa.PrimaryKeyConstraint("slot", name=op.f("pk_topic_ring")),
        schema="howdah",
        comment="The state of the tables that topic messages go round in, one row a slot.",
    )
    op.create_table(
        "subscriptions",
        sa.Column(
            "destination_id",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="The destination that holds its poison policy, its rights and what was set aside.",
        ),
        sa.Column(
            "topic",
            sa.Text(collation="C"),
            nullable=False,
            comment="Name of the topic, or a wildcard such as STOCKS.>.",
        ),
        sa.Column(
            "client_id", sa.Text(collation="C"), nullable=False, comment="Client id of the subscriber; empty: none."
        ),
        sa.Column(
            "name", sa.Text(collation="C"), nullable=False, comment="Name; made up for a non-durable one without."
        ),
        sa.Column(
            "durable",
            sa.Boolean(),
            nullable=False,
            comment="False: it ends when nobody has been heard of for a minute.",
        ),
        sa.Column(
            "shared",
            sa.Boolean(),
            nullable=False,
            comment="True: several consumers at once, each message to one of them.",
        ),
        sa.Column(
            "no_local", sa.Boolean(), nullable=False, comment="True: messages of the same client id are left out."
        ),
        sa.Column(
            "prioritized", sa.Boolean(), nullable=False, comment="True: a cursor for each priority, higher ones first."
        ),
        sa.Column("selector", sa.Text(), nullable=True, comment="JMS selector. NULL: all messages."),
        sa.Column("selector_sql", sa.Text(), nullable=True, comment="The selector as compiled."),
        sa.Column(
            "alive",
            postgresql.REGCLASS(),
            nullable=False,
            comment="A sequence, a hint: when a consumer was last heard of, in ms.",
        ),
        sa.Column(
            "warned_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="When administrators were told that it lags behind. NULL: not since.",
        ),
        sa.ForeignKeyConstraint(["destination_id"], ["howdah.destinations.id"], name="fk_subscriptions_destination"),
        sa.PrimaryKeyConstraint("destination_id", name=op.f("pk_subscriptions")),
        schema="howdah",
        comment="Subscriptions, durable and not; each is a destination of kind subscription too.",
    )
    op.create_table(
        "topics",
        sa.Column("destination_id", sa.Integer(), autoincrement=False, nullable=False, comment="The topic."),
        sa.Column(
            "stored",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="Whether messages are stored: somebody subscribed, or they are kept for those who come late.",
        ),
        sa.Column(
            "bridged",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="Whether messages go on into queues (bridges).",
        ),
        sa.Column(
            "retain_ms",
            sa.BigInteger(),
            nullable=True,
            comment="Milliseconds that messages are kept for replay. NULL: as subscribers need.",
        ),
        sa.Column(
            "retain_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="The youngest messages of so many bytes of bodies are kept for replay. NULL: as subscribers need.",
        ),
        sa.Column(
            "recovery",
            sa.Text(),
            server_default="none",
            nullable=False,
            comment="What a late non-durable subscriber gets first: none, last_image, retained, fixed_count, fixed_size, timed or query.",
        ),
        sa.Column(
            "recovery_amount",
            sa.BigInteger(),
            nullable=True,
            comment="How much: messages (fixed_count), bytes of bodies (fixed_size) or milliseconds (timed).",
        ),
        sa.Column("recovery_selector", sa.Text(), nullable=True, comment="Which messages, for query."),
        sa.Column(
            "backlog_limit",
            sa.BigInteger(),
            nullable=True,
            comment="Messages that a durable subscription may lag behind before backlog_action. NULL: any number.",
        ),
        sa.Column(
            "backlog_age_ms",
            sa.BigInteger(),
            nullable=True,
            comment="Milliseconds that it may lag behind before backlog_action. NULL: for ever.",
        ),
        sa.Column(
            "backlog_action",
            sa.Text(),
            server_default="drop_backlog",
            nullable=False,
            comment="What happens then: drop_backlog, drop_subscription or refuse (publishers get HD018).",
        ),
        sa.Column(
            "refused_for",
            sa.Text(),
            nullable=True,
            comment="The subscription for whose sake publishers are refused. NULL: they are not.",
        ),
        sa.CheckConstraint(
            "backlog_action IN ('drop_backlog', 'drop_subscription', 'refuse')", name=op.f("ck_topics_backlog_action")
        ),
        sa.CheckConstraint(
            "recovery IN ('none', 'last_image', 'retained', 'fixed_count', 'fixed_size', 'timed', 'query')",
            name=op.f("ck_topics_recovery"),
        ),
        sa.CheckConstraint(
            "recovery_amount > 0 AND backlog_limit > 0 AND backlog_age_ms > 0", name=op.f("ck_topics_amounts")
        ),
        sa.CheckConstraint("retain_ms > 0 AND retain_bytes > 0", name=op.f("ck_topics_retain")),
        sa.ForeignKeyConstraint(["destination_id"], ["howdah.destinations.id"], name="fk_topics_destination"),
        sa.PrimaryKeyConstraint("destination_id", name=op.f("pk_topics")),
        schema="howdah",
        comment="What only topics have, of those destinations that are topics.",
    )
    op.alter_column(
        "destinations",
        "kind",
        existing_type=sa.TEXT(),
        comment="queue (one consumer a message), topic (every subscriber) or subscription (one subscriber's view of topics).",
        existing_comment="queue (one consumer a message) or topic (every subscriber).",
        existing_nullable=False,
        existing_server_default=sa.text("'queue'::text"),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "persistent",
            sa.Boolean(),
            server_default=sa.text("true"),
            nullable=False,
            comment="False: memory mode, in which every message sent here is non-persistent.",
        ),
        schema="howdah",
    )
    op.add_column(
        "engine",
        sa.Column(
            "system_identifier",
            sa.BigInteger(),
            nullable=True,
            comment="The cluster whose transaction numbers topics and cursors hold; after a restore into another: howdah.rebase_topics().",
        ),
        schema="howdah",
    )
    op.add_column(
        "engine",
        sa.Column(
            "topic_rotation_seconds",
            sa.Integer(),
            server_default="600",
            nullable=False,
            comment="Seconds after which topic messages go into the next table, at least.",
        ),
        schema="howdah",
    )
    op.create_check_constraint(
        op.f("ck_engine_topic_rotation_seconds"), "engine", "topic_rotation_seconds > 0", schema="howdah"
    )


def downgrade() -> None:
    """Drop them again, with every topic and subscription."""
    op.execute(
        "DELETE FROM howdah.destination_grants g USING howdah.destinations d"
        " WHERE d.id = g.destination_id AND d.kind <> 'queue'"
    )
    for name in ("acks", "ack_cursors", "acked", "bridges", "subscriptions", "topics", "topic_ring"):
        op.execute(f"DROP TABLE howdah.{name} CASCADE")  # and the views that show them
    for number in range(3):
        op.execute(f"DROP TABLE howdah.topic_msgs_{number} CASCADE")
        op.execute(f"DROP TABLE howdah.topic_nonpersistent_{number} CASCADE")
    op.execute("DELETE FROM howdah.destinations WHERE kind <> 'queue'")
    for name in ("topic_generation", "topic_truncations", "topic_checked"):
        op.execute(f"DROP SEQUENCE howdah.{name}")
    op.drop_constraint(op.f("ck_destinations_kind"), "destinations", schema="howdah")
    op.create_check_constraint(
        op.f("ck_destinations_kind"), "destinations", "kind IN ('queue', 'topic')", schema="howdah"
    )
    op.alter_column(
        "destinations",
        "kind",
        comment="queue (one consumer a message) or topic (every subscriber).",
        existing_type=sa.Text(),
        existing_nullable=False,
        schema="howdah",
    )
    op.drop_column("destinations", "persistent", schema="howdah")
    op.drop_column("engine", "topic_rotation_seconds", schema="howdah")
    op.drop_column("engine", "system_identifier", schema="howdah")
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
