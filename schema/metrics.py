"""Totals for monitoring, which no retention takes back."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, DOUBLE_PRECISION

from .base import TIMESTAMPTZ, metadata
from .journal import PgSnapshot

metric_epoch = Table(
    "metric_epoch",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False, comment="Always 1."),
    Column("home", Text, nullable=False, comment="The cluster and database that the totals belong to."),
    Column("created_at", TIMESTAMPTZ, nullable=False, comment="When the totals began at zero."),
    Column("since", TIMESTAMPTZ, nullable=False, comment="Earlier records are not counted: a restore brought them."),
    Column("snapshot", PgSnapshot(), comment="The totals hold the records visible in it. NULL: none yet."),
    Column("folded_at", TIMESTAMPTZ, comment="When records were last added up. NULL: not yet."),
    CheckConstraint("id = 1", name="single_row"),
    comment="The beginning and the state of the totals for monitoring: one row, or none before the first count.",
)

metric_totals = Table(
    "metric_totals",
    metadata,
    Column("destination_id", Integer, nullable=False, comment="The destination. 0: all temporary queues and unknown."),
    Column("metric", Text, nullable=False, comment="enqueued, dequeued or failures."),
    Column("label", Text, nullable=False, comment="For dequeued: the event. For failures: the error's class."),
    Column("total", BigInteger, nullable=False, comment="How many since metric_epoch.created_at."),
    Column("level", BigInteger, comment="For enqueued: what lay there and what had left at the last count."),
    Column("gained", BigInteger, comment="For enqueued: by how much the total grew when it last changed."),
    Column("changed_at", TIMESTAMPTZ, comment="For enqueued: when it last changed."),
    PrimaryKeyConstraint("destination_id", "metric", "label"),
    # Viewers of the figures of all queues read it every two seconds.
    Index("ix_metric_totals_failures", "destination_id", postgresql_where=text("metric = 'failures'")),
    comment="Totals for monitoring by destination. They only grow, until a restore.",
)

metric_histograms = Table(
    "metric_histograms",
    metadata,
    Column("destination_id", Integer, nullable=False, comment="The destination. 0: all temporary queues and unknown."),
    Column("metric", Text, nullable=False, comment="wait: from send to receive. handler: calls of handlers."),
    Column("counts", ARRAY(BigInteger), nullable=False, comment="How many in each bucket; the last has no bound."),
    Column("seconds", DOUBLE_PRECISION, nullable=False, comment="The sum of all, in seconds."),
    PrimaryKeyConstraint("destination_id", "metric"),
    comment="Distributions of times for monitoring by destination. They only grow, until a restore.",
)

flow_samples = Table(
    "flow_samples",
    metadata,
    Column("step", SmallInteger, nullable=False, comment="Minutes from one sample to the next: 1 or 15."),
    Column("at", TIMESTAMPTZ, nullable=False, comment="When it was taken."),
    Column("destination_id", Integer, nullable=False, comment="The queue. 0: all queues."),
    Column("enqueued", BigInteger, nullable=False, comment="What had come in by then, as metric_totals."),
    Column("dequeued", BigInteger, nullable=False, comment="What had left by then, as metric_totals."),
    Column("failed", BigInteger, nullable=False, comment="How many deliveries had failed by then, as metric_totals."),
    Column(
        "live", BigInteger, nullable=False, comment="Ready messages, as backlog_figures. Of all queues: no dead ones."
    ),
    Column("oldest_sent_at", TIMESTAMPTZ, comment="When the oldest of them was sent. NULL: there is none."),
    PrimaryKeyConstraint("step", "at", "destination_id"),
    Index("ix_flow_samples_destination_id", "destination_id", "step", "at"),
    CheckConstraint("step IN (1, 15)", name="step"),
    comment=(
        "Totals at points in time, for curves: of all queues, and of those that changed. Minutes stay three hours, "
        "quarters of an hour eight days."
    ),
)
