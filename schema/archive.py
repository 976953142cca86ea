"""The archive: its finished runs, what is in it of messages that are still there, and what was taken out of it."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, Integer, Numeric, PrimaryKeyConstraint, Table, Text
from sqlalchemy.dialects.postgresql import UUID

from .base import TIMESTAMPTZ, metadata
from .journal import PgSnapshot

archive_runs = Table(
    "archive_runs",
    metadata,
    Column("archive_id", UUID(), nullable=False, comment="Identity of the archive, which its folder also bears."),
    Column("run", Integer, nullable=False, comment="Number of the run in its archive, from 1."),
    Column("lock_epoch", BigInteger, nullable=False, comment="Fencing epoch of the lease that it was finished under."),
    Column(
        "snapshot",
        PgSnapshot(),
        nullable=False,
        comment=(
            "The archive holds the rows visible in this snapshot; this run holds those that the run before does not."
        ),
    ),
    Column(
        "system_identifier",
        BigInteger,
        nullable=False,
        comment=("The cluster to which the transaction ids in snapshot belong."),
    ),
    Column(
        "journal_rows", BigInteger, nullable=False, comment=("Rows of the journal written, one per message and event.")
    ),
    Column("journal_checksum", Numeric, nullable=False, comment="Sum of their hashes, computed by the database."),
    Column("incident_rows", BigInteger, nullable=False, comment="Incidents written."),
    Column("incident_checksum", Numeric, nullable=False, comment="Sum of their hashes."),
    Column("message_rows", BigInteger, nullable=False, comment="Dead messages written."),
    Column("message_checksum", Numeric, nullable=False, comment="Sum of their hashes."),
    Column(
        "journal_kept_from",
        TIMESTAMPTZ,
        comment="The journal's oldest partition at that time. The first run has nothing of what happened before.",
    ),
    Column(
        "manifest", Text, nullable=False, comment=("SHA-256 of the run's manifest, which has the SHA-256 of each file.")
    ),
    Column("path", Text, nullable=False, comment="The archive's folder at that time, as its archiver named it."),
    Column("started_at", TIMESTAMPTZ, nullable=False, comment="When the run began."),
    Column("finished_at", TIMESTAMPTZ, nullable=False, comment="When it was finished, read back and verified."),
    Column("verified_at", TIMESTAMPTZ, comment="When howdah archive verify last checked it. NULL: never."),
    Column(
        "damage",
        Text,
        comment=("What that check found wrong. NULL: nothing. While there is damage, retention drops nothing."),
    ),
    PrimaryKeyConstraint("archive_id", "run"),
    CheckConstraint("run > 0", name="run"),
    comment="Finished runs of archives. A run's folder that is not listed here is no part of the archive.",
)

archived_messages = Table(
    "archived_messages",
    metadata,
    Column("message_id", BigInteger, nullable=False, comment="The dead message."),
    Column("destination_id", Integer, nullable=False, comment="The exception destination it lies in."),
    Column("origin_id", Integer, nullable=False, comment="The destination it came from. 0: none."),
    Column("stage", Integer, nullable=False, comment="Its stage there, which grows with each move."),
    PrimaryKeyConstraint("message_id", "destination_id", "origin_id", "stage"),
    comment="Dead messages that are in the archive and still in their queue, so that none is archived twice.",
)

archive_restores = Table(
    "archive_restores",
    metadata,
    Column("restored_id", BigInteger, primary_key=True, autoincrement=False, comment="Id of the new message."),
    Column("message_id", BigInteger, nullable=False, comment="The message of the archive that it is a copy of."),
    Column("archive_id", UUID(), nullable=False, comment="The archive."),
    Column("run", Integer, nullable=False, comment="The run that contains it."),
    Column("queue", Text, nullable=False, comment="Where it was sent to, as its caller named it."),
    Column("restored_at", TIMESTAMPTZ, nullable=False, comment="When it was sent."),
    Column("restored_by", Text, nullable=False, comment="The role that sent it."),
    Index("ix_archive_restores_message", "message_id"),
    comment="Messages that were restored from an archive. INSERT-only.",
)

maintenance_waits = Table(
    "maintenance_waits",
    metadata,
    Column("service", Text, nullable=False, comment="The maintenance service, such as journal."),
    Column("object", Text, nullable=False, comment="What it left undone, such as a partition of the journal."),
    Column("reason", Text, nullable=False, comment="What it waits for."),
    Column("since", TIMESTAMPTZ, nullable=False, comment="When it first left it undone."),
    PrimaryKeyConstraint("service", "object"),
    comment="What maintenance could not do in its last pass; howdah.check_server() shows it.",
)
