"""Links: what is sent on to other engines, and what came in from them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, UUID

from .base import TIMESTAMPTZ, metadata
from .transformations import transformation_column

links = Table(
    "links",
    metadata,
    Column("link_id", UUID(), primary_key=True, comment="Identity of the link. The receiving engine knows it by this."),
    Column(
        "engine_id",
        UUID(),
        nullable=False,
        comment="The engine that the link belongs to. In a copy of the database it does not fit, and the link stops.",
    ),
    Column("target_engine_id", UUID(), comment="The engine that it leads to. NULL: not reached yet."),
    Column(
        "attempt",
        UUID(),
        comment=(
            "The last batch that was forwarded: the random mark of its attempt, committed with the consumption. Its "
            "receipts are pruned with the next batch. NULL: none."
        ),
    ),
    Column(
        "batch",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Number of the last batch that was forwarded. A gap or a step back shows a restored database.",
    ),
    Column("forwarded", BigInteger, nullable=False, server_default=text("0"), comment="Messages forwarded."),
    Column(
        "cut",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Messages of a subscription that were not forwarded because they had passed the target already.",
    ),
    Column(
        "dropped",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Messages of the level best effort that were dropped because the target was away.",
    ),
    Column("forwarded_at", TIMESTAMPTZ, comment="When the last batch was forwarded. NULL: never."),
    Column("away_since", TIMESTAMPTZ, comment="Since when nothing can be forwarded. NULL: it can."),
    Column("error_at", TIMESTAMPTZ, comment="When last_error happened. NULL: never."),
    Column("created_at", TIMESTAMPTZ, nullable=False, comment="When it was created."),
    Column("source_id", Integer, nullable=False, comment="The queue or subscription that it takes from."),
    Column(
        "batch_size",
        Integer,
        nullable=False,
        server_default=text("1000"),
        comment="The most messages that are forwarded at a time.",
    ),
    Column(
        "retry_ms_max",
        Integer,
        nullable=False,
        server_default=text("30000"),
        comment="The longest pause between two attempts while the target is away, in milliseconds.",
    ),
    Column(
        "paused", Boolean, nullable=False, server_default=text("false"), comment="True: nothing is forwarded for now."
    ),
    Column(
        "loops",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: the queue holds messages that came from the target, so each take selects the others.",
    ),
    Column("name", Text(collation="C"), nullable=False, comment="Name of the link."),
    Column("target_queue", Text, nullable=False, comment="Name of the queue or topic there."),
    Column("selector", Text, comment="Which messages are forwarded. NULL: all."),
    Column("service", Text, comment="The service of pg_service.conf that leads to the target. NULL: see dsn_env."),
    Column("dsn_env", Text, comment="The environment variable with the target's DSN. NULL: see service."),
    Column("last_error", Text, comment="Why it last failed to forward. NULL: never."),
    Column("created_by", Text, nullable=False, comment="The role that created it."),
    transformation_column("what is forwarded"),
    Index("uq_links_name", "name", unique=True),
    Index("ix_links_source_id", "source_id"),
    CheckConstraint("batch_size BETWEEN 1 AND 10000 AND retry_ms_max > 0", name="lengths"),
    CheckConstraint("(service IS NULL) <> (dsn_env IS NULL)", name="target"),
    comment="What is forwarded to other engines. No credentials are stored: a service or a variable leads there.",
)

link_arrivals = Table(
    "link_arrivals",
    metadata,
    Column("arrival_id", Integer, Identity(always=True), primary_key=True, comment="Number of the link here."),
    Column("link_id", UUID(), nullable=False, comment="Identity of the link, in the sending engine's table links."),
    Column("engine_id", UUID(), nullable=False, comment="The sending engine."),
    Column(
        "batch",
        BigInteger,
        nullable=False,
        comment="Number of the last batch that arrived. It may be forwarded again, until the next one comes.",
    ),
    Column("arrived", BigInteger, nullable=False, server_default=text("0"), comment="Messages stored here."),
    Column(
        "repeated",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Messages that came again and were not stored again.",
    ),
    Column(
        "lost",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Non-persistent messages that arrived, but that a restart took from the sender before it knew.",
    ),
    Column("created_at", TIMESTAMPTZ, nullable=False, comment="When the first batch arrived."),
    Column("arrived_at", TIMESTAMPTZ, nullable=False, comment="When the last batch arrived."),
    Column("link_name", Text, nullable=False, comment="Name of the link there."),
    Column("engine_name", Text, nullable=False, comment="Name of the sending engine."),
    Column("source_queue", Text, nullable=False, comment="Name of the queue or subscription there."),
    Column("arrived_as", Text, nullable=False, comment="The role that forwards; no other role may continue."),
    Index("uq_link_arrivals_link_id", "link_id", unique=True),
    comment="Links that lead here: one row for each, which every batch locks.",
)

link_receipts = Table(
    "link_receipts",
    metadata,
    Column("receipt_id", BigInteger, Identity(always=True), nullable=False, comment="Number of the row."),
    Column("arrived_at", TIMESTAMPTZ, nullable=False, comment="When they arrived."),
    Column(
        "sender_boot",
        TIMESTAMPTZ,
        comment=(
            "When the sending server had started, if they are non-persistent there: once it has started anew, they do "
            "not come again. NULL: they are persistent there."
        ),
    ),
    Column("arrival_id", Integer, nullable=False, comment="The link by which they came."),
    Column(
        "nonpersistent",
        Boolean,
        nullable=False,
        comment="True: they are stored as non-persistent here, so a restart of this server may lose them.",
    ),
    Column("attempts", ARRAY(UUID()), nullable=False, comment="Marks of the attempts that brought the messages."),
    Column("message_ids", ARRAY(BigInteger), nullable=False, comment="Their identities in the sending engine."),
    Column(
        "sent_ats",
        ARRAY(TIMESTAMPTZ),
        nullable=False,
        comment="When they were sent there. A restored engine uses identities again, but not with the same time.",
    ),
    Column("local_ids", ARRAY(BigInteger), nullable=False, comment="Their identities here."),
    PrimaryKeyConstraint("arrival_id", "receipt_id"),
    comment=(
        "Messages that arrived and whose sender is not known to have consumed them: one row for those of a level that "
        "the same attempts brought. A message that comes again is found here. The next batch prunes those of the "
        "attempt that its sender committed."
    ),
)
