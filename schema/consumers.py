"""Who receives, in which order: open consumers, the owners of message groups, and the selectors in use."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Identity,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import REGCLASS, UUID

from .base import TIMESTAMPTZ, metadata

consumers = Table(
    "consumers",
    metadata,
    Column(
        "id",
        Integer,
        Identity(always=True, cycle=True),
        primary_key=True,
        comment="Number of the consumer, which also gives their order: first come, first served.",
    ),
    Column(
        "destination_id",
        Integer,
        nullable=False,
        index=True,
        comment="The queue or subscription that it receives from.",
    ),
    Column(
        "exclusive",
        Boolean,
        nullable=False,
        comment="True: while it lives, no other consumer of the queue gets messages.",
    ),
    Column(
        "priority",
        Integer,
        nullable=False,
        comment=(
            "Of several exclusive consumers, the one with the highest priority is active; of equal ones, the first."
        ),
    ),
    Column(
        "own_session", Boolean, nullable=False, comment="True: it lives as long as the database session that opened it."
    ),
    Column(
        "timeout_ms",
        BigInteger,
        nullable=False,
        comment=(
            "Milliseconds of silence after which it counts as gone, unless it has an own session or an open "
            "transaction."
        ),
    ),
    Column("opened_at", TIMESTAMPTZ, nullable=False, comment="When it was opened."),
    Column("opened_by", Text, nullable=False, comment="The role that opened it."),
    Column(
        "opened_position",
        BigInteger,
        nullable=False,
        comment="The queue's last position at that time, where round-robin starts to count.",
    ),
    Column("seen_at", TIMESTAMPTZ, nullable=False, comment="When it last received, to within a quarter of timeout_ms."),
    Column("instance_id", UUID(), comment="Its home instance, with which it ends. NULL: none."),
    comment=(
        "Open consumers of unshared subscriptions, and of queues that tell their consumers apart: those with "
        "exclusive consumers, single, failover or round-robin delivery, or sticky message groups."
    ),
)

group_owners = Table(
    "group_owners",
    metadata,
    Column("destination_id", Integer, nullable=False, comment="The queue."),
    Column("group_id", Text, nullable=False, comment="The group: header JMSXGroupID, or the conversation."),
    Column(
        "consumer_id",
        Integer,
        ForeignKey(consumers.c.id, name="fk_group_owners_consumer", ondelete="CASCADE"),
        nullable=False,
        index=True,
        comment="The consumer that gets the group's messages until it goes.",
    ),
    Column("owned_since", TIMESTAMPTZ, nullable=False, comment="When it got the group."),
    PrimaryKeyConstraint("destination_id", "group_id"),
    comment="Sticky message groups and the consumer that each belongs to. One row per group, none per message.",
)

consumer_leases = Table(
    "consumer_leases",
    metadata,
    Column(
        "lease_id", BigInteger, primary_key=True, autoincrement=False, comment="Number of the lease: its fencing token."
    ),
    Column(
        "consumer_id",
        Integer,
        nullable=False,
        index=True,
        comment=(
            "The consumer, which lives as long as its session. There is no foreign key, because each lease would lock "
            "its row."
        ),
    ),
    comment="Leases that end when the session of their consumer is found to have ended.",
)

selections = Table(
    "selections",
    metadata,
    Column("destination_id", Integer, nullable=False, comment="The queue."),
    Column("digest", UUID(), nullable=False, comment="MD5 of the selector."),
    Column("rank", SmallInteger, nullable=False, comment="The lane, as lanes.rank."),
    Column("selector", Text, nullable=False, comment="The selector."),
    Column("condition", Text, nullable=False, comment="The selector compiled to SQL."),
    Column(
        "head",
        REGCLASS,
        comment=(
            "A sequence, a hint: no message that the selector selects lies before this position. NULL: not needed yet."
        ),
    ),
    Column("search", REGCLASS, comment="A sequence, a hint: as lanes.search."),
    Column("used_at", TIMESTAMPTZ, nullable=False, comment="When it was last used, to within an hour."),
    PrimaryKeyConstraint("destination_id", "digest", "rank"),
    comment="Selectors that receives use: the compiled condition, and where each looks next.",
)

candidates = Table(
    "candidates",
    metadata,
    Column("destination_id", Integer, nullable=False, comment="The queue."),
    Column("digest", UUID(), nullable=False, comment="MD5 of the selector."),
    Column("rank", SmallInteger, nullable=False, comment="The lane, as lanes.rank."),
    Column("upto", BigInteger, nullable=False, comment="The row covers positions up to this one."),
    Column("after", BigInteger, nullable=False, comment="The row covers positions behind this one."),
    Column("selector", Text, nullable=False, comment="The selector."),
    Column("seqs", ARRAY(BigInteger), nullable=False, comment="Positions there that it selects, ascending."),
    Column(
        "message_ids",
        ARRAY(BigInteger),
        nullable=False,
        comment="The messages that lay there. Only these are taken: what a selector sees of them never changes.",
    ),
    Column(
        "took_ms", Integer, nullable=False, comment="How long the look took, in milliseconds; the next may take twice."
    ),
    PrimaryKeyConstraint("destination_id", "digest", "rank", "upto"),
    prefixes=["UNLOGGED"],
    comment="The next messages that selectors select, found ahead by one look of a receive: hints, any may be lost.",
)
