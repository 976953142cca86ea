"""The public views as DataFrames, every partition from the one snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from .driver import DRIVER_CLASS
from .errors import AuditError
from .snapshot import Snapshot

COLUMNS = {
    "audit_destinations": (
        "destination_id, queue, kind, is_system, journal_level, journal_level_at, created_at, dropped_at,"
        " max_failed_deliveries, exception_mode, server_started_at, journal_kept_from"
    ),
    "audit_messages": (
        "message_id, destination_id, queue, state, priority, nonpersistent, sent_at, expires_at, due_at, stage,"
        " origin_queue, dead_reason, dead_at, body_bytes, content_type, correlation_id, message_type"
    ),
    "audit_journal": (
        "at, destination_id, queue, event, message_id, nonpersistent, other_destination_id, other_queue, reason"
    ),
    "audit_incidents": (
        "incident_id, message_id, destination_id, queue, stage, attempt, outcome, error_class, error_text, sqlstate,"
        " worker, duration_ms, recorded_at, recorded_by, conversation_id"
    ),
}
"""What is read of each view; by name, so that a view may grow."""

ISOLATION = "repeatable read"
_FETCH_SIZE = 10_000  # rows a round trip


@dataclass(frozen=True)
class View:
    """A view's rows, not yet read, and what is observed while they are."""

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


def read_view(spark: SparkSession, snapshot: Snapshot, view: str, partitions: int) -> View:
    """One of COLUMNS over JDBC, in up to ``partitions`` connections, each with a range of message ids.

    Every row carries the isolation level it was read at, which is checked and then left out: a connection that lost
    the snapshot reads at another level.
    """
    reader = spark.read.format("jdbc").options(
        url=snapshot.url,
        driver=DRIVER_CLASS,
        dbtable=f"(select {COLUMNS[view]}, current_setting('transaction_isolation') as isolation from howdah.{view}) v",
        sessionInitStatement=session_statement(snapshot.identifier),
        fetchsize=_FETCH_SIZE,
        **snapshot.properties,
    )
    if view in snapshot.bounds:
        lower, upper = snapshot.bounds[view]
        # The upper bound is exclusive for the strides: without the one more, few ids would make one partition.
        reader = reader.options(
            partitionColumn="message_id", lowerBound=lower, upperBound=upper + 1, numPartitions=partitions
        )
    observation = Observation(f"{view} {snapshot.identifier}")
    outside = F.coalesce(F.sum(F.when(F.col("isolation") != ISOLATION, 1).otherwise(0)), F.lit(0))
    rows = reader.load().observe(observation, F.count(F.lit(1)).alias("rows"), outside.alias("outside"))
    return View(view, rows.drop("isolation"), observation)


def session_statement(identifier: str) -> str:
    """What each connection runs first, to read in the snapshot.

    BEGIN works whether the driver is in autocommit mode (it opens the transaction) or not (it sets the open one's
    level); SET TRANSACTION alone would be ignored silently in autocommit mode.
    """
    if not all(letter in "0123456789ABCDEFabcdef-" for letter in identifier):
        raise AuditError(f"{identifier!r} is no snapshot identifier")
    return f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '{identifier}'"
