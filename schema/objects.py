"""Administered objects: connection factories and destinations that clients find by name, and the log of XA."""

from __future__ import annotations

from sqlalchemy import Boolean, CheckConstraint, Column, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from .base import TIMESTAMPTZ, metadata

objects = Table(
    "objects",
    metadata,
    Column("name", Text, primary_key=True, comment="The name by which clients look it up, such as cf/orders."),
    Column(
        "kind", Text, nullable=False, comment="What it is: connection_factory, xa_connection_factory, queue or topic."
    ),
    Column("attributes", JSONB, nullable=False, comment="Its attributes. Those that are left out have their defaults."),
    Column(
        "read_only",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: nobody sets its attributes, and overrides at the start of a client are ignored.",
    ),
    Column("created_at", TIMESTAMPTZ, nullable=False, comment="When it was created."),
    Column("created_by", Text, nullable=False, comment="The role that created it."),
    Column("changed_at", TIMESTAMPTZ, nullable=False, comment="When it was last changed."),
    CheckConstraint("kind IN ('connection_factory', 'xa_connection_factory', 'queue', 'topic')", name="kind"),
    comment="What administrators define for clients to look up by name. No object holds a password.",
)

xa_transactions = Table(
    "xa_transactions",
    metadata,
    Column(
        "transaction_id",
        Text,
        primary_key=True,
        comment="The transaction over several databases: howdah:xa:, the engine that keeps this log, and a UUID.",
    ),
    Column("factory", Text, nullable=False, comment="The connection factory whose databases it is about."),
    Column("outcome", Text, comment="What was decided for all its branches: commit or rollback. NULL: nothing yet."),
    Column("begun_at", TIMESTAMPTZ, nullable=False, comment="When it began."),
    Column("begun_by", Text, nullable=False, comment="The role that began it. Only it and administrators decide."),
    Column("decided_at", TIMESTAMPTZ, comment="When it was decided. NULL: nothing is decided."),
    CheckConstraint("outcome IN ('commit', 'rollback')", name="outcome"),
    comment="The log of transactions over several databases, until every branch has ended. No row means rollback.",
)
