"""The engine itself: its settings, its locks, its workers."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Identity,
    Index,
    Integer,
    Sequence,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, DOUBLE_PRECISION, JSONB, UUID

from .base import TIMESTAMPTZ, metadata
from .journal import PgSnapshot

for _name in ("system_room", "system_tickets", "system_state", "no_room"):
    Sequence(_name, metadata=metadata, minvalue=0, start=1)
Sequence("expiry_walk", metadata=metadata, minvalue=0, start=0)
Sequence("lock_secret", metadata=metadata, minvalue=0, start=1)
Sequence("ticket_secret", metadata=metadata, minvalue=0, start=1)

latches = Table(
    "latches",
    metadata,
    Column("name", Text(collation="C"), primary_key=True, comment="Name of the lock."),
    comment="The engine's own locks: a holder locks the row. No row is ever changed.",
)

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
    Column(
        "system_identifier",
        BigInteger,
        comment=(
            "The cluster to which the transaction ids in topics and cursors belong. After a restore into another, "
            "call howdah.rebase_topics()."
        ),
    ),
    Column(
        "boot",
        TIMESTAMPTZ,
        nullable=False,
        comment="Start of the server at which non-persistent messages were last swept.",
    ),
    Column(
        "state",
        Text,
        nullable=False,
        server_default="running",
        comment=(
            "running, paused (nobody sends or receives), quiesced (no new work, and what began may end) or stopped "
            "(nothing is under way)."
        ),
    ),
    Column("state_at", TIMESTAMPTZ, comment="When the engine got into this state. NULL: it has always run."),
    Column("state_by", Text, comment="The role that put it there. NULL: nobody; a restart of the server ended a stop."),
    Column(
        "state_xid",
        BigInteger,
        comment="The transaction that changed the state (xid8 as a number). While quiesced, older ones still send.",
    ),
    Column(
        "stopped_boot",
        TIMESTAMPTZ,
        comment="Start of the server that the stop was made on: any other has ended it. NULL: not stopped.",
    ),
    Column(
        "attempting_secret",
        UUID(),
        nullable=False,
        server_default=text("gen_random_uuid()"),
        comment=(
            "It tells howdah.receive that howdah.begin_attempts calls it for a hardened queue. Only the owner can "
            "read it."
        ),
    ),
    Column(
        "digest_secret",
        UUID(),
        nullable=False,
        server_default=text("gen_random_uuid()"),
        comment=(
            "It is part of every digest in the journal, so that nobody finds a short body by trying. Only the owner "
            "can read it."
        ),
    ),
    Column("admin_role", Text, nullable=False, comment="Role that administers destinations."),
    Column("producer_role", Text, nullable=False, comment="Role that sends."),
    Column("consumer_role", Text, nullable=False, comment="Role that receives and records failures."),
    Column("browser_role", Text, nullable=False, comment="Role that browses without taking."),
    Column("auditor_role", Text, nullable=False, comment="Role that reads the audit views."),
    Column(
        "access_enabled",
        Boolean,
        nullable=False,
        server_default=text("true"),
        comment="Whether access rules hold. False: whoever may execute a function may use it on everything.",
    ),
    Column(
        "rule_set",
        Text,
        nullable=False,
        server_default=text("'default'"),
        comment="The set of access rules in force, where a service does not name another.",
    ),
    Column(
        "persistent",
        Boolean,
        nullable=False,
        server_default=text("true"),
        comment="False: every message sent is non-persistent, whatever its sender, queue or topic says.",
    ),
    Column(
        "journal_retention_days",
        Integer,
        nullable=False,
        server_default="90",
        comment="Days for which journal rows are kept at least.",
    ),
    Column(
        "incident_retention_days",
        Integer,
        nullable=False,
        server_default="90",
        comment="Days for which incidents of messages that are gone are kept at least.",
    ),
    Column(
        "log_level",
        Text,
        nullable=False,
        server_default="INFO",
        comment="Which events go into the log: those of this level and more severe ones.",
    ),
    Column(
        "log_retention_days",
        Integer,
        nullable=False,
        server_default="30",
        comment="Days for which events of the log are kept at least.",
    ),
    Column(
        "default_blocked_retry_ms",
        BigInteger,
        nullable=False,
        server_default=text("5000"),
        comment=(
            "Milliseconds between retries of a blocked message, unless its queue says otherwise. This is WebSphere's "
            "default."
        ),
    ),
    Column(
        "topic_rotation_seconds",
        Integer,
        nullable=False,
        server_default="600",
        comment="Seconds after which, at the earliest, topic messages go to the next table.",
    ),
    Column("max_count", BigInteger, comment="The most messages in all queues and subscriptions. NULL: any number."),
    Column(
        "max_bytes", BigInteger, comment="The most bytes of bodies in all queues and subscriptions. NULL: any number."
    ),
    Column(
        "max_message_bytes",
        BigInteger,
        comment=(
            "Largest body that any queue or topic takes, in bytes, whatever its own option says. NULL: each one's own "
            "option applies."
        ),
    ),
    Column(
        "yellow_threshold",
        Integer,
        nullable=False,
        server_default=text("60"),
        comment=(
            "Percentage of max_count or max_bytes from which expired messages are reclaimed at once. This is Sun ONE "
            "MQ's default."
        ),
    ),
    Column(
        "orange_threshold",
        Integer,
        nullable=False,
        server_default=text("75"),
        comment="Percentage from which sends are slowed. This is Sun ONE MQ's default.",
    ),
    Column(
        "red_threshold",
        Integer,
        nullable=False,
        server_default=text("90"),
        comment="Percentage from which nothing is sent and no queue or topic is created. This is Sun ONE MQ's default.",
    ),
    Column(
        "orange_delay_ms",
        Integer,
        nullable=False,
        server_default=text("10"),
        comment="Milliseconds that a send waits for each 50 messages in the state orange.",
    ),
    Column(
        "expiration_interval_seconds",
        Integer,
        nullable=False,
        server_default="60",
        comment="Seconds between two searches for expired messages. 0: none. This is OpenMQ's default.",
    ),
    Column("expired_at", TIMESTAMPTZ, comment="When the last search for expired messages began."),
    Column(
        "autorollback",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment=(
            "True: maintenance rolls back Howdah's transactions that were prepared before the server's start. "
            "OpenMQ's default is false."
        ),
    ),
    Column(
        "redelivered_optimization",
        Boolean,
        nullable=False,
        server_default=text("true"),
        comment=(
            "True: all messages of a lease that ran out come again as redelivered. False: only those that "
            "howdah.handed recorded. OpenMQ's default is true."
        ),
    ),
    Column(
        "archive",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: maintenance drops no journal rows and incidents that are not in the archive.",
    ),
    Column(
        "autocreate_queue",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: the first use of a missing queue creates it. OpenMQ's default is true.",
    ),
    Column(
        "autocreate_topic",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: the first use of a missing topic creates it. OpenMQ's default is true.",
    ),
    Column(
        "autocreate_options",
        JSONB,
        nullable=False,
        server_default=text('\'{"preset": "sun_mq"}\''),
        comment="Options of queues that create themselves, and of topics as far as they have them. Policies override.",
    ),
    Column(
        "autocreate_reap_seconds",
        Integer,
        nullable=False,
        server_default="120",
        comment="Seconds without use after which an empty destination that created itself ends. OpenMQ's default.",
    ),
    Column(
        "identity_salt",
        UUID(),
        comment="Part of the identity by which links know the engine: howdah.new_engine_id(). NULL: it never changed.",
    ),
    Column("archive_id", UUID(), comment="The archive that is written now. NULL: none was begun."),
    Column("totals_snapshot", PgSnapshot(), comment="journal_totals holds the journal rows visible in this snapshot."),
    Column("totals_at", TIMESTAMPTZ, comment="When journal_totals was last updated."),
    Column(
        "journal_dropped_xid",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="The greatest transaction id of which retention has dropped rows of the journal. 0: none.",
    ),
    Column(
        "cluster_mode",
        Text,
        nullable=False,
        server_default="none",
        comment=(
            "none: administrators change the configuration at any time. master: only while the instance cluster_master "
            "runs."
        ),
    ),
    Column("cluster_master", Text, comment="Name of the master of changes. NULL: none was named."),
    Column(
        "exclusive",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: of all instances, one receives at a time, and the others stand by.",
    ),
    Column(
        "instance_timeout_seconds",
        Integer,
        nullable=False,
        server_default="10",
        comment="Seconds after which a silent instance counts as dead, and its leases are over.",
    ),
    Column(
        "record_id",
        UUID(),
        nullable=False,
        server_default=text("gen_random_uuid()"),
        comment="Identity of the record of changes. A restore gives it a new one.",
    ),
    CheckConstraint("cluster_mode IN ('none', 'master')", name="cluster_mode"),
    CheckConstraint("cluster_mode = 'none' OR cluster_master IS NOT NULL", name="cluster_master"),
    CheckConstraint("instance_timeout_seconds >= 2", name="instance_timeout_seconds"),
    CheckConstraint("id = 1", name="single_row"),
    CheckConstraint("state IN ('running', 'paused', 'quiesced', 'stopped')", name="state"),
    CheckConstraint("(state = 'stopped') = (stopped_boot IS NOT NULL)", name="stopped_boot"),
    CheckConstraint("journal_retention_days > 0", name="journal_retention_days"),
    CheckConstraint("default_blocked_retry_ms >= 0", name="default_blocked_retry_ms"),
    CheckConstraint("incident_retention_days > 0", name="incident_retention_days"),
    CheckConstraint("log_level IN ('ERROR', 'WARNING', 'INFO')", name="log_level"),
    CheckConstraint("log_retention_days > 0", name="log_retention_days"),
    CheckConstraint("topic_rotation_seconds > 0", name="topic_rotation_seconds"),
    CheckConstraint("max_count > 0 AND max_bytes > 0 AND orange_delay_ms >= 0", name="limits"),
    CheckConstraint(
        "yellow_threshold > 0 AND yellow_threshold <= orange_threshold AND orange_threshold <= red_threshold"
        " AND red_threshold <= 100",
        name="thresholds",
    ),
    CheckConstraint("expiration_interval_seconds >= 0", name="expiration_interval_seconds"),
    CheckConstraint("max_message_bytes > 0", name="max_message_bytes"),
    CheckConstraint("autocreate_reap_seconds > 0", name="autocreate_reap_seconds"),
    comment="The engine's settings, one row.",
)

lock = Table(
    "lock",
    metadata,
    Column(
        "id",
        Integer,
        Identity(always=True, cycle=True),
        primary_key=True,
        comment="Number of the lease; 1 is the maintenance leader's.",
    ),
    Column("name", Text, nullable=False, comment="What the lease is for."),
    Column("holder", Text, comment="Who holds it. NULL: nobody."),
    Column(
        "held_as",
        Text,
        comment=("The role that acquired it; no other role keeps or releases it. NULL: nobody holds it."),
    ),
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

lock_epochs = Table(
    "lock_epochs",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True, comment="Number of the change of holder."),
    Column("acquired_at", TIMESTAMPTZ, nullable=False, comment="When the holder got the lease."),
    Column("epoch", BigInteger, nullable=False, comment="The fencing token that it got."),
    Column(
        "xid",
        BigInteger,
        nullable=False,
        server_default=text("pg_current_xact_id()::text::bigint"),
        comment="The transaction (xid8 as a number).",
    ),
    Column("name", Text, nullable=False, comment="Name of the lease."),
    Column("holder", Text, comment="Who got it."),
    Index("ix_lock_epochs_name", "name", "id"),
    comment=(
        "Who held each named lease, one row per change of holder. INSERT-only; kept for "
        "engine.journal_retention_days. The last row of a name always stays."
    ),
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
    Column("instance_id", UUID(), comment="The instance that it belongs to. NULL: none."),
    comment="Live worker processes, by heartbeat.",
)

worker_figures = Table(
    "worker_figures",
    metadata,
    Column("figure_id", BigInteger, Identity(always=True), primary_key=True, comment="Number of the row."),
    Column("worker", Text, nullable=False, comment="Name of the worker process, as in workers."),
    Column("queue", Text, nullable=False, comment="What it received from, under the name that it uses."),
    Column("listener", Text, comment="The listener through which it received. NULL: none."),
    Column("from_at", TIMESTAMPTZ, nullable=False, comment="The figures cover the time since then."),
    Column("until_at", TIMESTAMPTZ, nullable=False, comment="When they were recorded."),
    Column("handled", BigInteger, nullable=False, comment="Messages handled and consumed."),
    Column("failed", BigInteger, nullable=False, comment="Failed deliveries."),
    Column(
        "busy_seconds",
        DOUBLE_PRECISION,
        nullable=False,
        comment="Seconds spent in handlers, by all its sessions together.",
    ),
    Column(
        "handling_counts",
        ARRAY(BigInteger),
        nullable=False,
        comment=(
            "Handler calls by duration. Element n counts those under 2^(n-1) microseconds that no element before it "
            "counts; the 32nd counts all longer ones."
        ),
    ),
    Column(
        "xid",
        BigInteger,
        nullable=False,
        server_default=text("pg_current_xact_id()::text::bigint"),
        comment="The transaction (xid8 as a number), so that a reader that goes by snapshots misses no late commit.",
    ),
    Index("ix_worker_figures_until_at", "until_at"),
    Index("ix_worker_figures_xid", "xid", postgresql_using="brin", postgresql_with={"pages_per_range": 32}),
    CheckConstraint("cardinality(handling_counts) = 32", name="handling_counts"),
    comment=(
        "What each worker process did with each queue, at most one row per minute. INSERT-only; kept as long as "
        "incidents."
    ),
)
