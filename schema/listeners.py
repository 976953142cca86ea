"""Listeners: the endpoints through which workers receive, and which stop when deliveries fail."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, ForeignKey, Identity, Index, Integer, Table, Text
from sqlalchemy import text as sql_text

from .base import TIMESTAMPTZ, metadata
from .destinations import destinations

listeners = Table(
    "listeners",
    metadata,
    Column("id", Integer, Identity(always=True, cycle=True), primary_key=True, comment="Number of the listener."),
    Column("name", Text(collation="C"), nullable=False, comment="Name, of the same characters as a queue's."),
    Column(
        "destination_id",
        Integer,
        ForeignKey(destinations.c.id, name="fk_listeners_destination"),
        nullable=False,
        comment="The queue it receives from.",
    ),
    Column(
        "kind",
        Text,
        nullable=False,
        server_default="activation_specification",
        comment="activation_specification, or listener_port: its older name, with the same behaviour.",
    ),
    Column(
        "max_sessions",
        Integer,
        nullable=False,
        server_default="10",
        comment="Transactions that receive at once, of all processes together.",
    ),
    Column(
        "stop_on_failure",
        Boolean,
        nullable=False,
        server_default=sql_text("true"),
        comment="Whether failed deliveries stop it.",
    ),
    Column(
        "sequential_failures",
        Integer,
        nullable=False,
        server_default="0",
        comment="So many failures in a row stop it; 0, like 1: the first one does.",
    ),
    Column(
        "failures",
        Integer,
        nullable=False,
        server_default="0",
        comment="Failed deliveries since the last handled message, of all sessions, as of the last one;"
        " listener_marks may say less.",
    ),
    Column(
        "total_failures",
        BigInteger,
        nullable=False,
        server_default="0",
        comment="Failed deliveries since it was created.",
    ),
    Column("status", Text, nullable=False, server_default="running", comment="running or stopped."),
    Column("stopped_at", TIMESTAMPTZ, comment="When it stopped. NULL: it runs."),
    Column("stopped_by", Text, comment="The role that stopped it, or recorded the failure that did. NULL: it runs."),
    Column(
        "stopped_message_id",
        BigInteger,
        comment="The message whose failure stopped it. NULL: it runs, or was stopped by hand.",
    ),
    Column("stop_reason", Text, comment="Why it stopped."),
    Column("created_at", TIMESTAMPTZ, nullable=False, comment="When it was created."),
    Column("created_by", Text, nullable=False, comment="The role that created it."),
    CheckConstraint("kind IN ('activation_specification', 'listener_port')", name="kind"),
    CheckConstraint("max_sessions BETWEEN 1 AND 1000", name="max_sessions"),
    CheckConstraint("sequential_failures >= 0 AND failures >= 0 AND total_failures >= failures", name="failures"),
    CheckConstraint("status IN ('running', 'stopped')", name="status"),
    CheckConstraint("(status = 'stopped') = (stopped_at IS NOT NULL)", name="stopped_at"),
    Index("uq_listeners_name", "name", unique=True),
    Index("ix_listeners_destination", "destination_id"),
    comment="Endpoints that receive from a queue in a limited number of sessions and stop when deliveries fail.",
)

listener_marks = Table(
    "listener_marks",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True, comment="Number of the mark."),
    Column("listener_id", Integer, nullable=False, comment="The listener."),
    Column(
        "total_failures",
        BigInteger,
        nullable=False,
        comment="Its total_failures when the message had been handled.",
    ),
    Index("ix_listener_marks_listener", "listener_id"),
    comment="How many of a listener's failures lie before a message that it handled. INSERT-only for handling"
    " transactions,"
    " so that they lock nothing; the next failure takes the rows away.",
)
