"""The database's side of a run: what is new in one snapshot, its figures, and its rows over JDBC."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import IsolationLevel
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from ..database import opened
from ..driver import DRIVER_CLASS
from ..errors import AuditError
from ..ledger import DESTINATIONS
from ..read import ISOLATION, View, between, session_statement
from ..snapshot import Snapshot, exported
from .parts import MESSAGES, Figures, Part, data_schema, sql_hash

FETCH_ROWS = 5_000
FETCH_BYTES = 32 << 20
"""How many rows a round trip brings. Rows with bodies: how many bytes, or one row."""


@dataclass(frozen=True)
class Source:
    """A held snapshot: its identifier for Spark, and a connection in it. since: the snapshot of the run before."""

    snapshot: Snapshot
    connection: psycopg.Connection[tuple[Any, ...]] = field(repr=False)
    text: str
    since: str | None

    def value(self, query: str) -> Any:
        """The one value of a query, which is ours from beginning to end."""
        row = self.connection.execute(query).fetchone()
        assert row is not None
        return row[0]

    def schema(self, spark: SparkSession, part: Part) -> StructType:
        """A part's columns as Spark reads them, without those that are folders."""
        options = _options(self.snapshot, part.select(self.since))
        return data_schema(spark.read.format("jdbc").options(**options).load().drop("isolation").schema)

    def figures(self, part: Part, schema: StructType) -> Figures:
        """Count and checksum of what is new, by the database."""
        query = f"select count(*), coalesce(sum({sql_hash(schema)}), 0)::text from ({part.select(self.since)}) r"
        row = self.connection.execute(query).fetchone()
        assert row is not None
        return Figures(*row)

    def read(self, spark: SparkSession, part: Part, partitions: int) -> View:
        """What is new of a part, with the columns that are folders."""
        if part.by_xid:
            shares = even_shares(self.connection, part.view, part.condition(self.since), partitions)
        else:  # few rows of a large table, without a place to divide them by
            shares = [f"message_id / {DESTINATIONS} % {partitions} = {share}" for share in range(partitions)]
        query = part.select(self.since, place=part.by_xid)
        return read_where(spark, self.snapshot, part.view, query, shares, self._rows_a_fetch(part))

    def _rows_a_fetch(self, part: Part) -> int:
        if "body" not in part.columns:
            return FETCH_ROWS
        largest = f"select max(octet_length(v.body)) from howdah.{part.view} v where {part.condition(self.since)}"
        return max(1, min(FETCH_ROWS, FETCH_BYTES // max(1, self.value(largest) or 1)))

    def check_numbers(self) -> None:
        """Refuse transaction numbers that this cluster has not given out: a dump was restored into it."""
        foreign = self.value(
            "select exists (select from howdah.audit_journal v where v.xid >="
            " pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
            " and not pg_visible_in_snapshot(v.xid::text::xid8, pg_current_snapshot()))"
            " or exists (select from howdah.audit_incidents v where v.xid >="
            " pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
            " and not pg_visible_in_snapshot(v.xid::text::xid8, pg_current_snapshot()))"
        )
        if foreign:
            raise AuditError(
                "the journal has transaction numbers of another cluster, for a dump was restored into this one:"
                " begin another archive in an empty folder (--new), and keep the old one"
            )

    def messages(self) -> list[tuple[int, int, int | None, int]]:
        """The keys of the dead messages that are new: number, destination, origin and stage."""
        query = (
            "select v.message_id, v.destination_id, v.origin_id, v.stage from howdah.archive_messages v where not"
            " v.archived"
        )
        return [(row[0], row[1], row[2], row[3]) for row in self.connection.execute(query)]


@contextmanager
def open_source(dsn: str, since: str | None) -> Iterator[Source]:
    """Export a snapshot and hold it in the block. Raises AuditError as ``exported``, or if the role may not archive."""
    with exported(dsn) as snapshot, joined(dsn, snapshot) as connection:
        row = connection.execute(
            "select pg_current_snapshot()::text, has_table_privilege('howdah.' || %s, 'select'), current_user::text",
            [MESSAGES.view],
        ).fetchone()
        assert row is not None
        if not row[1]:
            raise AuditError(f"role {row[2]} may not read howdah.{MESSAGES.view}: archiving is for howdah_admin")
        yield Source(snapshot, connection, row[0], since)


@contextmanager
def joined(dsn: str, snapshot: Snapshot) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    """A connection whose one transaction reads in an exported snapshot."""
    with opened(dsn, "howdah archive") as connection:
        connection.execute("select set_config('statement_timeout', '0', false)")
        connection.execute("select set_config('idle_in_transaction_session_timeout', '0', false)")
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        with connection.transaction():
            # The identifier cannot be a parameter; session_statement refuses an invalid one.
            session_statement(snapshot.identifier)
            connection.execute(f"set transaction snapshot '{snapshot.identifier}'")
            yield connection


def even_shares(connection: psycopg.Connection[tuple[Any, ...]], view: str, condition: str, parts: int) -> list[str]:
    """Return conditions on place that cut a view's rows into at most ``parts`` parts, as even as its blocks allow.

    Rows are counted by block: new rows lie in the last blocks, which the tables' sizes do not show.
    """
    rows = connection.execute(
        "select c.block + 1 from (select b.block, b.rows, sum(b.rows) over (order by b.block) as upto, sum(b.rows)"
        " over () as whole"
        f" from (select ((v.place::text::point)[0])::bigint as block, count(*) as rows from howdah.{view} v where"
        f" {condition}"
        f" group by 1) b) c where c.upto < c.whole and div(c.upto * {parts}, c.whole) > div((c.upto - c.rows) *"
        f" {parts}, c.whole)"
        " order by 1"
    ).fetchall()
    return between([row[0] for row in rows])


def read_where(
    spark: SparkSession, snapshot: Snapshot, name: str, query: str, shares: list[str], fetch: int = FETCH_ROWS
) -> View:
    """Return a query's rows over JDBC, one connection a share, in the snapshot, which is checked as an audit's is.

    A column place, which shares may need, is left out.
    """
    options = _options(snapshot, query, fetch)
    read = spark.read.jdbc(options.pop("url"), options.pop("dbtable"), predicates=shares, properties=options)
    observation = Observation(f"archive {name} {snapshot.identifier}")
    outside = F.coalesce(F.sum(F.when(F.col("isolation") != ISOLATION, 1).otherwise(0)), F.lit(0))
    rows: DataFrame = read.drop("place").observe(observation, F.count(F.lit(1)).alias("rows"), outside.alias("outside"))
    return View(name, rows.drop("isolation"), observation)


def _options(snapshot: Snapshot, query: str, fetch: int = FETCH_ROWS) -> dict[str, str]:
    return {
        "url": snapshot.url,
        "driver": DRIVER_CLASS,
        "dbtable": f"(select q.*, current_setting('transaction_isolation') as isolation from ({query}) q) r",
        "sessionInitStatement": session_statement(snapshot.identifier),
        "fetchsize": str(fetch),
        **snapshot.properties,
    }
