"""The services through which sessions connect: for messages or for administration, plain or by TLS."""

from __future__ import annotations

from sqlalchemy import Boolean, CheckConstraint, Column, Integer, Table, Text, text
from sqlalchemy.dialects.postgresql import ARRAY

from .base import metadata

services = Table(
    "services",
    metadata,
    Column("name", Text(collation="C"), primary_key=True, comment="Name: jms, ssljms, admin or ssladmin."),
    Column(
        "kind",
        Text,
        nullable=False,
        comment="NORMAL serves messages. ADMIN also serves the functions of administrators.",
    ),
    Column("active", Boolean, nullable=False, server_default=text("false"), comment="Whether it accepts sessions."),
    Column(
        "access_enabled",
        Boolean,
        comment="Whether access rules hold for its sessions. NULL: as for the engine.",
    ),
    Column("rule_set", Text, comment="The set of access rules that hold for its sessions. NULL: as for the engine."),
    Column(
        "roles",
        ARRAY(Text),
        comment="Members of these roles belong to this service. NULL: anybody may connect with it.",
    ),
    Column(
        "require_tls",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="Whether it refuses a session without TLS.",
    ),
    Column(
        "min_connections",
        Integer,
        nullable=False,
        server_default=text("0"),
        comment="Database connections that a client's pool keeps.",
    ),
    Column(
        "max_connections",
        Integer,
        nullable=False,
        server_default=text("10"),
        comment="Database connections that a client's pool has at most.",
    ),
    Column(
        "idle_seconds",
        Integer,
        nullable=False,
        server_default=text("600"),
        comment="Seconds after which a client's pool closes an idle connection above the minimum.",
    ),
    Column(
        "model",
        Text,
        nullable=False,
        server_default="shared",
        comment=(
            "dedicated: each session has two database connections, and one of them waits. shared: sessions share those "
            "that wait."
        ),
    ),
    Column(
        "monitor_limit",
        Integer,
        nullable=False,
        server_default=text("512"),
        comment="Consumers that one waiting connection serves at most. 0: any number.",
    ),
    Column("comment", Text, comment="What it is for, in the words of an administrator."),
    CheckConstraint("kind IN ('NORMAL', 'ADMIN')", name="services_kind"),
    CheckConstraint("model IN ('dedicated', 'shared')", name="services_model"),
    CheckConstraint("min_connections >= 0 AND max_connections > min_connections", name="services_connections"),
    CheckConstraint("idle_seconds > 0 AND monitor_limit >= 0", name="services_limits"),
    comment="Services: how sessions connect, and what a client's pool of connections is like.",
)
