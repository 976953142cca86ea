"""The public views as DataFrames, every partition from the one snapshot."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from .driver import DRIVER_CLASS
from .errors import AuditError
from .snapshot import TABLES, Snapshot

COLUMNS = {
    "audit_destinations": (
        "destination_id, queue, kind, is_system, journal_level, journal_level_at, created_at, dropped_at,"
        " max_failed_deliveries, exception_mode, server_started_at, journal_kept_from, message_groups, delivery_policy,"
        " groups_at, read_at, incidents_kept_from, count_by, backout_count, policy_xid, max_connections"
    ),
    "audit_messages": (
        "message_id, destination_id, queue, state, priority, nonpersistent, sent_at, expires_at, due_at, stage,"
        " origin_queue, dead_reason, dead_at, body_bytes, content_type, correlation_id, message_type, conversation_id,"
        " group_key, digest, reliability"
    ),
    "audit_journal": (
        "at, destination_id, queue, event, message_id, nonpersistent, other_destination_id, other_queue, reason, xid,"
        " oldest_sent_at,"
        " expires_at, group_id, priority, settled_xid, digest, reliability"
    ),
    "audit_incidents": (
        "incident_id, message_id, destination_id, queue, stage, attempt, outcome, error_class, error_text, sqlstate,"
        " worker, duration_ms, recorded_at, recorded_by, conversation_id, fingerprint, dispose_at, xid, group_key,"
        " uncounted, due_at, unchanged"
    ),
    "audit_workers": (
        "figure_id, worker, queue, listener, from_at, until_at, handled, failed, busy_seconds, handling_counts"
    ),
    "audit_acts": (
        "act_id, at, actor, act, destination_id, queue, other_destination_id, other_queue, reason, message_id"
    ),
    "audit_locks": "name, id, epoch, holder, acquired_at, xid, present_epoch, present_holder, expires_at",
    "audit_cursors": (
        "destination_id, queue, topic_id, priority, created_at, gets_all, xid, seq, passed_before, passed_not"
    ),
}
"""Columns read from each view, by name, so that a view may grow."""

_BESIDE = {"place": tuple(TABLES), "word": ("audit_journal",)}
"""Columns that only conditions use, and their views."""

ISOLATION = "repeatable read"
_FETCH_SIZE = 10_000  # rows a round trip


@dataclass(frozen=True)
class View:
    """A view's rows, not yet read, and what is observed while reading them."""

    name: str
    rows: DataFrame
    observation: Observation

    def check(self) -> int:
        """The number of rows, once an action has read them all.

        Raises AuditError if any partition was not read in the snapshot: its figures would not belong together.
        """
        seen = self.observation.get
        if seen["outside"]:
            raise AuditError(
                f"{seen['outside']} of {seen['rows']} rows of howdah.{self.name} were not read in the audit's snapshot:"
                " the JDBC driver or a pooler ignored the statement that sets it"
            )
        return int(seen["rows"])


def read_view(
    spark: SparkSession, snapshot: Snapshot, view: str, partitions: int, predicates: list[str] | None = None
) -> View:
    """One of COLUMNS over JDBC, in up to ``partitions`` connections, each with as many blocks of the tables.

    predicates: conditions on its rows instead, one for each connection; they may name place, and word of the journal.
    """
    beside = [name for name, views in _BESIDE.items() if view in views]
    if predicates is None:
        predicates = ranges(snapshot.blocks[view], partitions) if "place" in beside else ["true"]
    query = f"select {', '.join([COLUMNS[view], *beside])} from howdah.{view}"
    read = read_query(spark, snapshot, view, query, predicates)
    return View(view, read.rows.drop(*beside), read.observation)


def read_query(spark: SparkSession, snapshot: Snapshot, name: str, query: str, predicates: list[str]) -> View:
    """The rows of a query over JDBC, in one connection for each condition on them.

    Every row carries the isolation level at which it was read. That is checked and then left out: a connection that
    lost the snapshot reads at another level.
    """
    read = spark.read.jdbc(
        snapshot.url,
        f"(select q.*, current_setting('transaction_isolation') as isolation from ({query}) q) v",
        predicates=predicates,
        properties={
            "driver": DRIVER_CLASS,
            "sessionInitStatement": session_statement(snapshot.identifier),
            "fetchsize": str(_FETCH_SIZE),
            **snapshot.properties,
        },
    )
    observation = Observation(f"{name} {snapshot.identifier}")
    outside = F.coalesce(F.sum(F.when(F.col("isolation") != ISOLATION, 1).otherwise(0)), F.lit(0))
    rows = read.observe(observation, F.count(F.lit(1)).alias("rows"), outside.alias("outside"))
    return View(name, rows.drop("isolation"), observation)


def ranges(blocks: list[int], parts: int) -> list[str]:
    """Conditions that cut tables of so many blocks into at most ``parts`` parts of the same size.

    All tables are cut at the same block numbers, chosen by what lies below them in all together. PostgreSQL reads a
    range of blocks without an index and without looking at the others (TID range scan). Blocks written since lie past
    the last cut: they have no rows of the snapshot.
    """
    total, longest = sum(blocks), max(blocks, default=0)
    goals = [total * part // parts for part in range(1, parts)]
    below = [
        bisect_left(range(longest), goal, key=lambda block: sum(min(size, block) for size in blocks)) for goal in goals
    ]
    return between(sorted({cut for cut in below if cut}))


def between(cuts: list[int]) -> list[str]:
    """Conditions of the parts that lie between the beginnings of these blocks, which rise."""
    return [
        f"place >= '({lower},0)'" + (f" and place < '({upper},0)'" if upper is not None else "")
        for lower, upper in zip([0, *cuts], [*cuts, None], strict=True)
    ]


def session_statement(identifier: str) -> str:
    """What each connection runs first, to read in the snapshot.

    BEGIN opens the transaction if the driver is in autocommit mode, and otherwise sets the open one's level. SET
    TRANSACTION alone would be ignored silently in autocommit mode. Digests are one long statement, so no time limit of
    the role may end it.
    """
    if not all(letter in "0123456789ABCDEFabcdef-" for letter in identifier):
        raise AuditError(f"{identifier!r} is not a snapshot identifier")
    snapshot = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '{identifier}'"
    return f"{snapshot}; SET LOCAL statement_timeout = 0"
