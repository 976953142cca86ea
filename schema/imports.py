"""Imports: what was copied from the store of another system, so that a copy can be repeated."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)

from .base import TIMESTAMPTZ, metadata

imports = Table(
    "imports",
    metadata,
    Column("import_id", Integer, Identity(always=True), primary_key=True, comment="Number of the import."),
    Column("stored", BigInteger, nullable=False, server_default=text("0"), comment="Messages that came over."),
    Column(
        "withdrawn",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Messages that were taken back, because they had been consumed at the source.",
    ),
    Column("created_at", TIMESTAMPTZ, nullable=False, comment="When it began."),
    Column("finished_at", TIMESTAMPTZ, comment="When the final pass ended. NULL: the source may still be in use."),
    Column("source", Text(collation="C"), nullable=False, comment="Identity of the store that it copies from."),
    Column("created_by", Text, nullable=False, comment="The role that began it."),
    Index("uq_imports_source", "source", unique=True),
    comment="Stores of other systems that messages are or were copied from.",
)

imported = Table(
    "imported",
    metadata,
    Column("message_id", BigInteger, nullable=False, comment="The message here."),
    Column("store_id", BigInteger, nullable=False, comment="Number of the message in the store, in order."),
    Column("import_id", Integer, nullable=False, comment="The import."),
    Column("destination_id", Integer, nullable=False, comment="The queue or topic here."),
    Column("key", Text(collation="C"), nullable=False, comment="Identity of the message at the source."),
    PrimaryKeyConstraint("import_id", "destination_id", "key"),
    Index("ix_imported_store_id", "import_id", "destination_id", "store_id"),
    comment="Messages that came over, each once however often the copy is repeated.",
)

import_holds = Table(
    "import_holds",
    metadata,
    Column("import_id", Integer, nullable=False, comment="The import."),
    Column("destination_id", Integer, nullable=False, comment="The queue or subscription."),
    Column("paused", Boolean, nullable=False, comment="Whether the import paused receiving, and must resume it."),
    PrimaryKeyConstraint("import_id", "destination_id"),
    comment="Queues and subscriptions that wait for the final pass of an import.",
)
