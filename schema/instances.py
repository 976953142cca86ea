"""Instances: the sets of worker processes that serve one database, and where each stands in the record of changes."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Integer, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB, UUID

from .base import TIMESTAMPTZ, metadata
from .journal import PgSnapshot

instances = Table(
    "instances",
    metadata,
    Column("instance_id", UUID(), primary_key=True, comment="Identity of one life of an instance."),
    Column("name", Text, nullable=False, unique=True, comment="Its name, which it has again in its next life."),
    Column(
        "state",
        Text,
        nullable=False,
        comment=(
            "INITIALIZING (it waits to begin), RECOVERING (its sweeps run), RUNNING, or QUIESCED (it receives nothing "
            "new)."
        ),
    ),
    Column(
        "waits_for",
        Text,
        comment="What it waits for while INITIALIZING: master or exclusive. NULL: nothing.",
    ),
    Column("quiesced_by", Text, comment="The role that quiesced it. NULL: nobody."),
    Column(
        "ending",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: an administrator told it to end.",
    ),
    Column(
        "registered_as", Text, nullable=False, comment="The role that registered it. Only it and administrators end it."
    ),
    Column("host", Text, nullable=False, comment="Host it runs on."),
    Column("pid", Integer, nullable=False, comment="Process id of its supervisor there."),
    Column("version", Text, comment="Version of its programs."),
    Column("settings", JSONB, nullable=False, comment="Settings of the cluster that it was started with."),
    Column("started_at", TIMESTAMPTZ, nullable=False, comment="When it registered."),
    Column("heartbeat_at", TIMESTAMPTZ, nullable=False, comment="When it was last heard of."),
    CheckConstraint("state IN ('INITIALIZING', 'RECOVERING', 'RUNNING', 'QUIESCED')", name="state"),
    CheckConstraint("waits_for IN ('master', 'exclusive')", name="waits_for"),
    comment="Live instances, by heartbeat.",
)

instance_positions = Table(
    "instance_positions",
    metadata,
    Column("name", Text, primary_key=True, comment="Name of the instance."),
    Column("record_id", UUID(), nullable=False, comment="The record that the position is in: engine.record_id."),
    Column("read", PgSnapshot(), nullable=False, comment="It has read all changes that are visible in this snapshot."),
    Column("upto", PgSnapshot(), comment="It is reading the changes that are visible in this one. NULL: in none."),
    Column("last_change", BigInteger, comment="The last change that it read. NULL: none."),
    Column(
        "missed", BigInteger, nullable=False, server_default="0", comment="Changes that it missed while it was away."
    ),
    Column("read_at", TIMESTAMPTZ, nullable=False, comment="When it last read."),
    comment="Where each instance stands in the record of changes. It outlives the instance.",
)
