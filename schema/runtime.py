"""The engine itself: its settings, its locks, its workers; and durable subscriptions' cursors."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, UUID

from .base import TIMESTAMPTZ, metadata
from .journal import PgSnapshot

engine = Table(
    "engine",
    metadata,
    Column(
        "id",
        SmallInteger,
        primary_key=True,
        autoincrement=False,
        comment="Always 1: there is one engine in a database.",
    ),
    Column(
        "name", Text, nullable=False, comment="The messaging engine's name, part of its exception destination's name."
    ),
    Column("procedures_checksum", Text, nullable=False, comment="Checksum of the installed procedures and role names."),
    Column("admin_role", Text, nullable=False, comment="Role that administers destinations."),
    Column("producer_role", Text, nullable=False, comment="Role that sends."),
    Column("consumer_role", Text, nullable=False, comment="Role that receives and records failures."),
    Column("browser_role", Text, nullable=False, comment="Role that looks without taking."),
    Column("auditor_role", Text, nullable=False, comment="Role that reads the audit views."),
    Column(
        "boot",
        TIMESTAMPTZ,
        nullable=False,
        comment="Start of the server at which non-persistent messages were last swept.",
    ),
    Column("totals_snapshot", PgSnapshot(), comment="journal_totals holds the journal rows visible in this snapshot."),
    Column("totals_at", TIMESTAMPTZ, comment="When journal_totals was last brought up."),
    Column(
        "journal_retention_days",
        Integer,
        nullable=False,
        server_default="90",
        comment="Days that journal rows are kept, at least.",
    ),
    Column(
        "default_blocked_retry_ms",
        BigInteger,
        nullable=False,
        server_default=text("5000"),
        comment="Milliseconds between retries of a blocked message, where its queue says nothing else. WebSphere's default.",
    ),
    Column(
        "incident_retention_days",
        Integer,
        nullable=False,
        server_default="90",
        comment="Days that incidents of messages that are gone are kept, at least.",
    ),
    CheckConstraint("id = 1", name="single_row"),
    CheckConstraint("journal_retention_days > 0", name="journal_retention_days"),
    CheckConstraint("default_blocked_retry_ms >= 0", name="default_blocked_retry_ms"),
    CheckConstraint("incident_retention_days > 0", name="incident_retention_days"),
    comment="The engine's settings, one row.",
)

lock = Table(
    "lock",
    metadata,
    Column(
        "id",
        Integer,
        Identity(always=True),
        primary_key=True,
        comment="Number of the lease; 1 is the maintenance leader's.",
    ),
    Column("name", Text, nullable=False, comment="What the lease is for."),
    Column("holder", Text, comment="Who holds it. NULL: nobody."),
    Column(
        "epoch",
        BigInteger,
        nullable=False,
        server_default="0",
        comment="Fencing token: grows by one at each change of holder.",
    ),
    Column("expires_at", TIMESTAMPTZ, comment="The lease is void from this time on, by the database's clock."),
    Index("uq_lock_name", "name", unique=True),
    comment="Named leases with fencing epochs.",
)

workers = Table(
    "workers",
    metadata,
    Column("worker_id", UUID(), primary_key=True, comment="Identity of one worker process's life."),
    Column("name", Text, nullable=False, comment="Name for people: host, application and process id."),
    Column("host", Text, nullable=False, comment="Host it runs on."),
    Column("pid", Integer, nullable=False, comment="Process id there."),
    Column("sessions", Integer, nullable=False, comment="Sessions (threads) it runs."),
    Column("queues", ARRAY(Text), nullable=False, comment="Names of the queues it receives from."),
    Column("started_at", TIMESTAMPTZ, nullable=False, comment="When it registered."),
    Column("heartbeat_at", TIMESTAMPTZ, nullable=False, comment="When it was last heard of."),
    Column(
        "in_hand",
        JSONB,
        nullable=False,
        comment="Messages in its hands at the last heartbeat: an object of queue name to count.",
    ),
    comment="Live worker processes, by heartbeat.",
)

acks = Table(
    "acks",
    metadata,
    Column(
        "last_acked_id", BigInteger, nullable=False, server_default="-1", comment="The subscription's low-water mark."
    ),
    Column("destination_id", Integer, nullable=False, comment="The topic subscribed to."),
    Column(
        "priority",
        SmallInteger,
        nullable=False,
        server_default="0",
        comment="Priority the row is for, in prioritised subscriptions; else 0.",
    ),
    Column("client_id", Text, nullable=False, comment="Client id of the subscriber."),
    Column("subscription_name", Text, nullable=False, comment="Name of the durable subscription."),
    Column("selector", Text, comment="Message selector. NULL: all messages."),
    PrimaryKeyConstraint("destination_id", "client_id", "subscription_name", "priority"),
    comment="Durable subscriptions and their cursors.",
)
