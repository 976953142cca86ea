"""The engine itself: its settings, its locks, its workers."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Identity,
    Index,
    Integer,
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
    Column(
        "system_identifier",
        BigInteger,
        comment="The cluster whose transaction numbers topics and cursors hold; after a restore into another: howdah.rebase_topics().",
    ),
    Column(
        "topic_rotation_seconds",
        Integer,
        nullable=False,
        server_default="600",
        comment="Seconds after which topic messages go into the next table, at least.",
    ),
    CheckConstraint("id = 1", name="single_row"),
    CheckConstraint("journal_retention_days > 0", name="journal_retention_days"),
    CheckConstraint("default_blocked_retry_ms >= 0", name="default_blocked_retry_ms"),
    CheckConstraint("incident_retention_days > 0", name="incident_retention_days"),
    CheckConstraint("topic_rotation_seconds > 0", name="topic_rotation_seconds"),
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
