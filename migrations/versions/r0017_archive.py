"""Archive the journal, incidents and dead messages, and say what maintenance waits for.

Revision: 0017, after 0016.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import UserDefinedType

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

TIMESTAMPTZ = postgresql.TIMESTAMP(timezone=True)


class _PgSnapshot(UserDefinedType[str]):
    cache_ok = True

    def get_col_spec(self, **options: object) -> str:
        return "PG_SNAPSHOT"


def upgrade() -> None:
    """Add the tables, and to each incident its transaction; those there are get that of this revision."""
    op.add_column(
        "poison_details",
        sa.Column(
            "xid",
            sa.BigInteger(),
            server_default=sa.text("pg_current_xact_id()::text::bigint"),
            nullable=False,
            comment="The transaction (xid8 as a number), so that a reader by snapshots misses no late commit.",
        ),
        schema="howdah",
    )
    op.create_index(
        "ix_poison_details_xid",
        "poison_details",
        ["xid"],
        schema="howdah",
        postgresql_using="brin",
        postgresql_with={"pages_per_range": 32},
    )
    op.add_column(
        "engine",
        sa.Column(
            "archive",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: maintenance drops nothing of the journal and of incidents that is not in the archive.",
        ),
        schema="howdah",
    )
    op.add_column(
        "engine",
        sa.Column(
            "archive_id",
            postgresql.UUID(),
            nullable=True,
            comment="The archive that is written now. NULL: none was begun.",
        ),
        schema="howdah",
    )
    _runs()
    op.create_table(
        "archived_messages",
        sa.Column("message_id", sa.BigInteger(), nullable=False, comment="The dead message."),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The exception destination it lies in."),
        sa.Column("origin_id", sa.Integer(), nullable=False, comment="The destination it came from, 0: none."),
        sa.Column("stage", sa.Integer(), nullable=False, comment="Its stage there, which grows with each move."),
        sa.PrimaryKeyConstraint(
            "message_id", "destination_id", "origin_id", "stage", name=op.f("pk_archived_messages")
        ),
        schema="howdah",
        comment="Dead messages that are in the archive and still in their queue, so that none is archived twice.",
    )
    _restores()
    op.create_table(
        "maintenance_waits",
        sa.Column("service", sa.Text(), nullable=False, comment="The maintenance service, such as journal."),
        sa.Column(
            "object",
            sa.Text(),
            nullable=False,
            comment="What it left as it was, such as a partition of the journal.",
        ),
        sa.Column("reason", sa.Text(), nullable=False, comment="What it waits for."),
        sa.Column("since", TIMESTAMPTZ, nullable=False, comment="When it first left it."),
        sa.PrimaryKeyConstraint("service", "object", name=op.f("pk_maintenance_waits")),
        schema="howdah",
        comment="What maintenance could not do at its last pass; howdah.check_server() shows it.",
    )


def _runs() -> None:
    op.create_table(
        "archive_runs",
        sa.Column(
            "archive_id",
            postgresql.UUID(),
            nullable=False,
            comment="Identity of the archive, which its folder bears too.",
        ),
        sa.Column("run", sa.Integer(), nullable=False, comment="Number of the run in its archive, from 1."),
        sa.Column(
            "lock_epoch",
            sa.BigInteger(),
            nullable=False,
            comment="Fencing epoch of the lease that it was finished under.",
        ),
        sa.Column(
            "snapshot",
            _PgSnapshot(),
            nullable=False,
            comment="The archive holds the rows visible in this snapshot; this run those that are not in the run before.",
        ),
        sa.Column(
            "system_identifier",
            sa.BigInteger(),
            nullable=False,
            comment="The cluster whose transaction numbers snapshot holds.",
        ),
        sa.Column(
            "journal_rows",
            sa.BigInteger(),
            nullable=False,
            comment="Rows of the journal written, one a message and event.",
        ),
        sa.Column(
            "journal_checksum", sa.Numeric(), nullable=False, comment="Sum of their hashes, computed by the database."
        ),
        sa.Column("incident_rows", sa.BigInteger(), nullable=False, comment="Incidents written."),
        sa.Column("incident_checksum", sa.Numeric(), nullable=False, comment="Sum of their hashes."),
        sa.Column("message_rows", sa.BigInteger(), nullable=False, comment="Dead messages written."),
        sa.Column("message_checksum", sa.Numeric(), nullable=False, comment="Sum of their hashes."),
        sa.Column(
            "journal_kept_from",
            TIMESTAMPTZ,
            nullable=True,
            comment="The journal's oldest partition at that time: of what happened before the first run has nothing.",
        ),
        sa.Column(
            "manifest",
            sa.Text(),
            nullable=False,
            comment="SHA-256 of the run's manifest, which has that of each file.",
        ),
        sa.Column(
            "path",
            sa.Text(),
            nullable=False,
            comment="The archive's folder at that time, as its archiver named it.",
        ),
        sa.Column("started_at", TIMESTAMPTZ, nullable=False, comment="When the run began."),
        sa.Column("finished_at", TIMESTAMPTZ, nullable=False, comment="When it was finished, read back and verified."),
        sa.Column(
            "verified_at",
            TIMESTAMPTZ,
            nullable=True,
            comment="When howdah archive verify last looked at it. NULL: never.",
        ),
        sa.Column(
            "damage",
            sa.Text(),
            nullable=True,
            comment="What it found wrong. NULL: nothing. While there is damage retention drops nothing.",
        ),
        sa.PrimaryKeyConstraint("archive_id", "run", name=op.f("pk_archive_runs")),
        sa.CheckConstraint("run > 0", name=op.f("ck_archive_runs_run")),
        schema="howdah",
        comment="Finished runs of archives. A folder of a run that is not here is no part of the archive.",
    )


def _restores() -> None:
    op.create_table(
        "archive_restores",
        sa.Column(
            "restored_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="Number of the new message.",
        ),
        sa.Column(
            "message_id",
            sa.BigInteger(),
            nullable=False,
            comment="The message of the archive that it is a copy of.",
        ),
        sa.Column("archive_id", postgresql.UUID(), nullable=False, comment="The archive."),
        sa.Column("run", sa.Integer(), nullable=False, comment="The run that had it."),
        sa.Column("queue", sa.Text(), nullable=False, comment="Where it was sent to, as its caller named it."),
        sa.Column("restored_at", TIMESTAMPTZ, nullable=False, comment="When it was sent."),
        sa.Column("restored_by", sa.Text(), nullable=False, comment="The role that sent it."),
        sa.PrimaryKeyConstraint("restored_id", name=op.f("pk_archive_restores")),
        schema="howdah",
        comment="Messages that were restored from an archive. INSERT-only.",
    )
    op.create_index("ix_archive_restores_message", "archive_restores", ["message_id"], schema="howdah")


def downgrade() -> None:
    """Drop them; what was archived stays in its folder, but nothing knows it any more."""
    # CASCADE: the views made for them too.
    op.execute(
        "DROP TABLE howdah.archive_runs, howdah.archived_messages, howdah.archive_restores, howdah.maintenance_waits CASCADE"
    )
    op.execute("ALTER TABLE howdah.engine DROP COLUMN archive_id, DROP COLUMN archive")
    op.execute("ALTER TABLE howdah.poison_details DROP COLUMN xid CASCADE")
