"""Topics: one stored copy of each message, in a ring of tables; subscriptions, and where each of them stands."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Sequence,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, REGCLASS, UUID
from sqlalchemy.types import UserDefinedType

from .base import TIMESTAMPTZ, metadata, reliability_column
from .destinations import destinations
from .journal import PgSnapshot
from .transformations import transformation_column

SLOTS = 3
"""Number of the tables that topic messages go round in."""


class Xid8(UserDefinedType[str]):
    """PostgreSQL's xid8, which SQLAlchemy does not know."""

    cache_ok = True

    def get_col_spec(self, **options: Any) -> str:
        """The type's name in DDL."""
        return "XID8"


Sequence("topic_generation", metadata=metadata, minvalue=0, start=0)
Sequence("topic_truncations", metadata=metadata, minvalue=0, start=0)
Sequence("topic_checked", metadata=metadata, minvalue=0, start=0)


def _published_columns() -> list[Column[object]]:
    """The columns of a stored topic message, by alignment as in ``message_columns``."""
    return [
        Column(
            "xid",
            Xid8(),
            nullable=False,
            server_default=text("pg_current_xact_id()"),
            comment="The publisher's transaction, by which cursors know what they have passed.",
        ),
        Column("seq", BigInteger, nullable=False, comment="Position in the topic, from the destination's sequence."),
        Column("sent_at", TIMESTAMPTZ, nullable=False, comment="When send was called (JMSTimestamp)."),
        Column("expires_at", TIMESTAMPTZ, comment="Never delivered at or after this time. NULL: never expires."),
        Column("destination_id", Integer, nullable=False, comment="The topic."),
        Column("rank", SmallInteger, nullable=False, comment="9 minus the priority."),
        Column("is_text", Boolean, nullable=False, comment="True: body is UTF-8 text or JSON. False: bytes."),
        Column("content_type", Text, nullable=False, comment="MIME type of the body."),
        Column("body", LargeBinary, nullable=False, comment="The exact bytes of the body."),
        Column("headers", JSONB, comment="Application properties, a JSON object. NULL: none."),
        Column("correlation_id", Text, comment="JMSCorrelationID."),
        Column("reply_to", Text, comment="JMSReplyTo: name of the destination for answers."),
        Column("message_type", Text, comment="JMSType."),
        Column("conversation_id", UUID(), comment="The conversation (dialog) the message belongs to."),
        Column("client_id", Text, comment="Client id of the publisher's session (howdah.set_client_id), for no_local."),
        reliability_column(),
    ]


topic_slots = [
    Table(
        f"topic_msgs_{number}",
        metadata,
        *_published_columns(),
        PrimaryKeyConstraint("destination_id", "xid", "seq"),
        comment="Topic messages, one stored copy each. INSERT-only, emptied by TRUNCATE once nobody needs them.",
    )
    for number in range(SLOTS)
]

topic_slots_nonpersistent = [
    Table(
        f"topic_nonpersistent_{number}",
        metadata,
        *_published_columns(),
        Column(
            "boot",
            TIMESTAMPTZ,
            nullable=False,
            server_default=text("pg_postmaster_start_time()"),
            comment="Start of the server that took the message. After any other start it is lost.",
        ),
        PrimaryKeyConstraint("destination_id", "xid", "seq"),
        prefixes=["UNLOGGED"],
        comment="Non-persistent topic messages: no WAL, lost at every restart of the server.",
    )
    for number in range(SLOTS)
]

topic_ring = Table(
    "topic_ring",
    metadata,
    Column("slot", Integer, primary_key=True, autoincrement=False, comment="Number of the tables, 0 to 2."),
    Column("generation", BigInteger, nullable=False, comment="How often the ring had been turned when it was opened."),
    Column("state", Text, nullable=False, comment="open, closing (writers may still be at work), closed or empty."),
    Column(
        "closed_xid",
        Xid8(),
        comment=("When it was closed: all transactions with rows in it are older, and have ended."),
    ),
    Column("opened_at", TIMESTAMPTZ, comment="When it was opened. NULL: never."),
    Column("closed_at", TIMESTAMPTZ, comment="When it was closed. NULL: it is not."),
    Column(
        "truncations",
        BigInteger,
        nullable=False,
        server_default="0",
        comment="Value of topic_truncations when it was last emptied.",
    ),
    CheckConstraint("state IN ('open', 'closing', 'closed', 'empty')", name="state"),
    comment="The state of the tables in the ring of topic messages, one row per slot.",
)

topics = Table(
    "topics",
    metadata,
    Column(
        "destination_id",
        Integer,
        ForeignKey(destinations.c.id, name="fk_topics_destination"),
        primary_key=True,
        autoincrement=False,
        comment="The topic.",
    ),
    Column(
        "stored",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="Whether messages are stored: there is a subscription, or they are kept for late subscribers.",
    ),
    Column(
        "bridged",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="Whether messages are sent on to queues (bridges).",
    ),
    Column(
        "retain_ms",
        BigInteger,
        comment=("Milliseconds for which messages are kept for replay. NULL: only while subscribers need them."),
    ),
    Column(
        "retain_bytes",
        BigInteger,
        comment=(
            "The youngest messages up to this many bytes of bodies are kept for replay. NULL: only while subscribers "
            "need them."
        ),
    ),
    Column(
        "recovery",
        Text,
        nullable=False,
        server_default="none",
        comment=(
            "What a late non-durable subscriber gets first: none, last_image, retained, fixed_count, fixed_size, "
            "timed or query."
        ),
    ),
    Column(
        "recovery_amount",
        BigInteger,
        comment="How much: messages (fixed_count), bytes of bodies (fixed_size) or milliseconds (timed).",
    ),
    Column("recovery_selector", Text, comment="Which messages, for query."),
    Column(
        "backlog_limit",
        BigInteger,
        comment="Messages that a durable subscription may be behind before backlog_action. NULL: any number.",
    ),
    Column(
        "backlog_age_ms",
        BigInteger,
        comment="Milliseconds that it may be behind before backlog_action. NULL: forever.",
    ),
    Column(
        "backlog_action",
        Text,
        nullable=False,
        server_default="drop_backlog",
        comment="What happens then: drop_backlog, drop_subscription or refuse (publishers get HD018).",
    ),
    Column(
        "refused_for", Text, comment="The subscription because of which publishers are refused. NULL: they are not."
    ),
    CheckConstraint(
        "recovery IN ('none', 'last_image', 'retained', 'fixed_count', 'fixed_size', 'timed', 'query')", name="recovery"
    ),
    CheckConstraint("backlog_action IN ('drop_backlog', 'drop_subscription', 'refuse')", name="backlog_action"),
    CheckConstraint("retain_ms > 0 AND retain_bytes > 0", name="retain"),
    CheckConstraint("recovery_amount > 0 AND backlog_limit > 0 AND backlog_age_ms > 0", name="amounts"),
    comment="What only topics have, for those destinations that are topics.",
)

subscriptions = Table(
    "subscriptions",
    metadata,
    Column(
        "destination_id",
        Integer,
        ForeignKey(destinations.c.id, name="fk_subscriptions_destination"),
        primary_key=True,
        autoincrement=False,
        comment="The destination that holds its poison policy, its rights and the messages set aside.",
    ),
    Column("topic", Text(collation="C"), nullable=False, comment="Name of the topic, or a wildcard such as STOCKS.>."),
    Column("client_id", Text(collation="C"), nullable=False, comment="Client id of the subscriber; empty: none."),
    Column(
        "name",
        Text(collation="C"),
        nullable=False,
        comment=("Name; generated for a non-durable subscription without one."),
    ),
    Column(
        "durable", Boolean, nullable=False, comment=("False: it ends when no consumer has been heard of for a minute.")
    ),
    Column("shared", Boolean, nullable=False, comment="True: several consumers at once, each message to one of them."),
    Column("no_local", Boolean, nullable=False, comment="True: messages of the same client id are left out."),
    Column("prioritized", Boolean, nullable=False, comment="True: one cursor per priority, higher priorities first."),
    transformation_column("what its consumers get"),
    Column("selector", Text, comment="JMS selector. NULL: all messages."),
    Column("selector_sql", Text, comment="The compiled selector."),
    Column("alive", REGCLASS, nullable=False, comment="A sequence, a hint: when a consumer was last heard of, in ms."),
    Column("warned_at", TIMESTAMPTZ, comment="When administrators were told that it is behind. NULL: not since."),
    comment="Subscriptions, durable and not. Each is also a destination of kind subscription.",
)

acks = Table(
    "acks",
    metadata,
    Column("id", Integer, Identity(always=True, cycle=True), nullable=False, comment="Number of the cursor."),
    Column("destination_id", Integer, nullable=False, comment="The topic subscribed to."),
    Column("subscription_id", Integer, nullable=False, comment="The subscription (destinations.id)."),
    Column(
        "priority",
        SmallInteger,
        nullable=False,
        server_default="0",
        comment="Priority of the cursor, in prioritized subscriptions; otherwise 0.",
    ),
    Column("client_id", Text, nullable=False, comment="Client id of the subscriber."),
    Column(
        "subscription_name",
        Text,
        nullable=False,
        comment="Name of the durable subscription; a non-durable one's has ~ before it.",
    ),
    Column("selector", Text, comment="Message selector. NULL: all messages."),
    PrimaryKeyConstraint("destination_id", "client_id", "subscription_name", "priority"),
    Index("uq_acks_id", "id", unique=True),
    Index("ix_acks_subscription", "subscription_id"),
    comment="Which subscription reads which topic: one row per topic, and per priority if it is prioritized.",
)

ack_cursors = Table(
    "ack_cursors",
    metadata,
    Column("ack_id", Integer, nullable=False, comment="The cursor (acks.id)."),
    Column("n", BigInteger, nullable=False, comment="Number of the step, from 0. The highest one applies."),
    Column("xid", Xid8(), nullable=False, comment="A transaction that is passed in part: its messages up to seq."),
    Column(
        "seq",
        BigInteger,
        nullable=False,
        comment=("Position in the topic up to which xid is passed. -1: nothing of it."),
    ),
    Column("delivered", BigInteger, nullable=False, comment="Messages delivered since the subscription was created."),
    Column("at", TIMESTAMPTZ, nullable=False, comment="When the step was made."),
    Column("snapshot", PgSnapshot(), nullable=False, comment="Messages of all transactions visible in it are passed."),
    PrimaryKeyConstraint("ack_id", "n"),
    comment=(
        "Where each cursor stands. Consumers only insert, so that no old snapshot makes it slow; old steps are "
        "deleted later."
    ),
)

acked = Table(
    "acked",
    metadata,
    Column("ack_id", Integer, nullable=False, comment="The cursor (acks.id)."),
    Column("seq", BigInteger, nullable=False, comment="Position in the topic."),
    Column("xid", Xid8(), nullable=False, comment="The publisher's transaction."),
    Column(
        "lease_id",
        BigInteger,
        comment=("The lease that has the message until leased_until. NULL: the message is done."),
    ),
    Column("leased_until", TIMESTAMPTZ, comment="When the lease ends. NULL: there is no lease."),
    Column(
        "nonpersistent",
        Boolean,
        nullable=False,
        server_default="false",
        comment="For a leased message: whether it is non-persistent, for the journal when it is acknowledged.",
    ),
    PrimaryKeyConstraint("ack_id", "seq"),
    Index("ix_acked_leased", "ack_id", "leased_until", postgresql_where=text("lease_id IS NOT NULL")),
    comment="Messages that a cursor has not passed, but that are done: acknowledged out of order, or set aside.",
)

bridges = Table(
    "bridges",
    metadata,
    Column("topic_id", Integer, primary_key=True, autoincrement=False, comment="The topic."),
    Column(
        "queue_id",
        Integer,
        primary_key=True,
        autoincrement=False,
        comment=("The queue that gets a copy of each message."),
    ),
    Column("selector", Text, comment="JMS selector. NULL: all messages."),
    Column("selector_sql", Text, comment="The compiled selector."),
    transformation_column("the queue's message out of the topic's"),
    comment="Topics whose messages are sent on to queues, including virtual topics.",
)
