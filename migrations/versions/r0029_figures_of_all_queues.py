"""Say once when the backlog was counted, so that figures which did not change need not be written; find exception destinations by an index.

Revision: 0029, after 0028.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

TIMESTAMPTZ = postgresql.TIMESTAMP(timezone=True)


def _make_anew(when: str, *last: sa.Column[object], backlog: str, dead: str) -> None:
    """The tables of figures, empty, and without the functions behind them whose form is another one."""
    for function in ("_dead()", "_count(integer)", "_count(integer, bigint)"):
        op.execute(f"DROP FUNCTION IF EXISTS howdah.{function}")
    for table in ("backlog_figures", "dead_figures"):
        op.drop_table(table, schema="howdah")
    op.create_table(
        "backlog_figures",
        sa.Column("destination_id", sa.Integer(), autoincrement=False, nullable=False, comment="The destination."),
        sa.Column("live", sa.BigInteger(), nullable=False, comment=f"Messages ready for delivery at {when}."),
        sa.Column("parked", sa.BigInteger(), nullable=False, comment=f"Messages waiting for a time at {when}."),
        sa.Column("oldest_sent_at", TIMESTAMPTZ, nullable=True, comment="When the oldest ready message was sent."),
        *last,
        sa.PrimaryKeyConstraint("destination_id", name=op.f("pk_backlog_figures")),
        schema="howdah",
        comment=backlog,
    )
    when = when if "." in when else f"backlog_figures.{when}"
    op.create_table(
        "dead_figures",
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The exception destination."),
        sa.Column("origin_id", sa.Integer(), nullable=False, comment="The destination its messages came from."),
        sa.Column("dead", sa.BigInteger(), nullable=False, comment=f"Number of them at {when}."),
        sa.PrimaryKeyConstraint("destination_id", "origin_id", name=op.f("pk_dead_figures")),
        schema="howdah",
        comment=dead,
    )


def upgrade() -> None:
    """Figures kept before have no time any more: the next run of maintain_backlog counts anew.

    destinations is locked before the figures, as in sessions that make a queue and look at it.
    """
    op.create_index(
        "ix_destinations_exception_mode",
        "destinations",
        ["exception_mode"],
        schema="howdah",
        postgresql_where=sa.text("exception_mode IN ('named', 'individual')"),
    )
    _make_anew(
        "backlog_counts.counted_at",
        backlog="Counts of the queues that are not empty, refreshed in the background.",
        dead="Counts of dead messages by exception destination and origin, refreshed in the background.",
    )
    op.create_table(
        "backlog_counts",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False, comment="Always 1."),
        sa.Column(
            "counted_at", TIMESTAMPTZ, nullable=False, comment="When backlog_figures and dead_figures were counted."
        ),
        sa.Column(
            "boot",
            TIMESTAMPTZ,
            nullable=False,
            comment="Start of the server then: non-persistent messages end with it.",
        ),
        sa.CheckConstraint("id = 1", name=op.f("ck_backlog_counts_single_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_backlog_counts")),
        schema="howdah",
        comment="The last count of the backlog: one row, none before the first.",
    )


def downgrade() -> None:
    """The figures go: those of small queues would stand where no look expects them. They are locked before destinations, as by a count."""
    _make_anew(
        "counted_at",
        sa.Column("counted_at", TIMESTAMPTZ, nullable=False, comment="When the figures were counted."),
        backlog="Counts of large queues, refreshed in the background.",
        dead="Counts of dead messages by origin, of exception destinations that are in backlog_figures.",
    )
    op.drop_table("backlog_counts", schema="howdah")
    op.execute("UPDATE howdah.engine SET procedures_checksum = ''")
    op.drop_index("ix_destinations_exception_mode", "destinations", schema="howdah")
