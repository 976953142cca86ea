"""The access rules, in named sets; howdah._compile_rights turns them into destination_grants."""

from __future__ import annotations

from sqlalchemy import Boolean, CheckConstraint, Column, ForeignKey, Index, Table, Text, text
from sqlalchemy.dialects.postgresql import ARRAY

from .base import TIMESTAMPTZ, metadata

access_rule_sets = Table(
    "access_rule_sets",
    metadata,
    Column("name", Text(collation="C"), primary_key=True, comment="Name of the set of rules."),
    Column("created_at", TIMESTAMPTZ, nullable=False, comment="When it was created."),
    Column("created_by", Text, nullable=False, comment="The role that created it."),
    Column(
        "changed_at",
        TIMESTAMPTZ,
        nullable=False,
        comment="When a rule of it was last changed. Whoever changes one updates this; new destinations share the row.",
    ),
    comment="Named sets of access rules. The engine, or a service, says which one is in force.",
)

access_rules = Table(
    "access_rules",
    metadata,
    Column(
        "rule_set",
        Text(collation="C"),
        ForeignKey(access_rule_sets.c.name, name="fk_access_rules_rule_set", ondelete="CASCADE"),
        primary_key=True,
        comment="The set that it belongs to.",
    ),
    Column("resource", Text, primary_key=True, comment="connection, queue or topic."),
    Column(
        "name",
        Text(collation="C"),
        primary_key=True,
        comment="NORMAL or ADMIN for a connection; else a destination's name, * for all, or a wildcard.",
    ),
    Column(
        "operation",
        Text,
        primary_key=True,
        comment="connect, produce, consume, browse, create, admin, pass_all or set_all.",
    ),
    Column("allow", Boolean, primary_key=True, comment="Whether it allows or denies."),
    Column("kind", Text, primary_key=True, comment="user: the principals themselves. group: members of them, too."),
    Column("principals", ARRAY(Text), nullable=False, comment="Roles. One that is * stands for everybody."),
    CheckConstraint("resource IN ('connection', 'queue', 'topic')", name="resource"),
    CheckConstraint("kind IN ('user', 'group')", name="kind"),
    CheckConstraint("cardinality(principals) > 0", name="principals"),
    Index("ix_access_rules_name", "resource", "name"),
    Index("ix_access_rules_wildcard", "resource", postgresql_where=text("name ~ '[*>]'")),
    comment="Access rules: who may do what with which connections, queues and topics.",
)
