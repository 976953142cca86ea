"""The journal as a source of Spark: ``spark.read`` and ``spark.readStream`` of the format ``howdah_journal``.

An offset is a snapshot of the database, so that a transaction that commits late is read then, once. The database
decides how far a batch goes, and whether all of it is still there (``engine.journal``). The rows are read from the
public views.

Spark makes these objects in Python processes of its own, on the driver and on executors. So they are picklable, and
know nothing of the Spark session. Only the stream reader keeps a connection between calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg.sql import SQL, Composed, Identifier
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructType,
    TimestampType,
)

from ..engine.calls import Call
from ..engine.calls.journal import Offset, check_journal_offset, journal_offset, journal_ranges, next_journal_offset
from ..engine.database.runner import run
from ..engine.errors import ConnectionLost, translated
from .database import opened
from .errors import AuditError
from .stream_options import Options

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

FORMAT = "howdah_journal"
FETCH_ROWS = 10_000

_TYPES: dict[str, DataType] = {
    "at": TimestampType(),
    "destination_id": IntegerType(),
    "queue": StringType(),
    "event": StringType(),
    "message_id": LongType(),
    "nonpersistent": BooleanType(),
    "other_destination_id": IntegerType(),
    "other_queue": StringType(),
    "reason": StringType(),
    "xid": LongType(),
    "reliability": StringType(),
}
_OF_MESSAGES: dict[str, DataType] = {
    "oldest_sent_at": TimestampType(),
    "expires_at": TimestampType(),
    "group_id": StringType(),
    "priority": IntegerType(),
    "settled_xid": LongType(),
    "digest": StringType(),
}
"""What audit_journal has beyond audit_journal_calls."""


def stream_schema(folded: bool = False) -> StructType:
    """The columns of audit_journal, or with ``folded`` of audit_journal_calls: a row for each call."""
    schema = StructType()
    for name, kind in _TYPES.items():
        if folded and name == "message_id":
            schema.add("message_ids", ArrayType(LongType()))
        else:
            schema.add(name, kind)
    for name, kind in {} if folded else _OF_MESSAGES.items():
        schema.add(name, kind)
    return schema


class HowdahJournal(DataSource):
    """``spark.dataSource.register(HowdahJournal)`` makes the format known; see docs/streaming.md for its options."""

    def __init__(self, options: Mapping[str, str]) -> None:
        # Read here and not on the executors, which need not know HOWDAH_DSN.
        self._options = Options.of(options)

    @classmethod
    def name(cls) -> str:
        """Return the format's name."""
        return FORMAT

    def schema(self) -> StructType:
        """One row for each message and event, or for each call."""
        return stream_schema(self._options.folded)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a reader of all rows between two places."""
        return JournalReader(self._checked(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Return a reader of batches."""
        return JournalStreamReader(self._checked(schema))

    def _checked(self, schema: StructType) -> Options:
        if schema.simpleString() != self.schema().simpleString():
            raise AuditError("the schema is fixed: leave .schema(...) out and select what is needed")
        return self._options


@dataclass(frozen=True)
class Range(InputPartition):
    """The transactions from first_xid to below end_xid that came between two offsets."""

    since: Offset
    upto: Offset
    first_xid: int
    end_xid: int


class JournalReader(DataSourceReader):
    """One batch of all that lies between startingOffsets and endingOffsets."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def partitions(self) -> list[InputPartition]:
        """Ranges of transactions."""
        with _connected(self._options) as connection:
            since = run(connection, journal_offset(self._options.starting))
            upto = run(connection, journal_offset(self._options.ending))
            found = _ranges(connection, self._options, since, upto)
        # An empty list would be taken for one partition without a value.
        return found or [Range(since, upto, 0, 0)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one range."""
        return read_range(self._options, partition)


class JournalStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Batches of at most maxRowsPerBatch messages, or one transaction of more."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._connection: psycopg.Connection[Any] | None = None
        self._target: Offset | None = None

    def initialOffset(self) -> Offset:
        """Where a stream without a checkpoint begins."""
        return self._run(journal_offset(self._options.starting))

    def getDefaultReadLimit(self) -> ReadLimit:
        """What one batch may have."""
        return ReadMaxRows(self._options.max_rows)

    def prepareForTriggerAvailableNow(self) -> None:
        """Go no further than what is there now."""
        self._target = self._run(journal_offset("latest"))

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """The end of the next batch; ``start`` itself if there is nothing."""
        if not isinstance(limit, ReadAllAvailable | ReadMaxRows):
            raise AuditError(f"the journal cannot be read with {type(limit).__name__}")
        return self._run(
            next_journal_offset(
                start,
                limit.max_rows if isinstance(limit, ReadMaxRows) else None,
                self._target,
                self._options.queues,
                fail_on_loss=self._options.fail_on_loss,
            )
        )

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        """Ranges of transactions; none if the offsets are the same."""
        return _ranges(self._connect(), self._options, start, end) if start != end else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one range."""
        return read_range(self._options, partition)

    def stop(self) -> None:
        """Let the connection go."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _run(self, call: Call[T]) -> T:
        """Run a call, on a new connection if the one held has broken since."""
        try:
            return run(self._connect(), call)
        except ConnectionLost:
            self.stop()
            return run(self._connect(), call)

    def _connect(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = _connected(self._options)
        return self._connection


def read_range(options: Options, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    """The rows of a range, and a look afterwards whether all of them were there."""
    import pyarrow as pa

    assert isinstance(partition, Range)
    types = _arrow_schema(options.folded)
    with _connected(options) as connection, translated():
        run(connection, check_journal_offset(partition.since, fail_on_loss=options.fail_on_loss))
        with connection.transaction(), connection.cursor(name="howdah_journal", binary=True) as cursor:
            cursor.execute(_query(options), _values(options, partition))
            while rows := cursor.fetchmany(FETCH_ROWS):
                columns = zip(*rows, strict=True)
                yield pa.RecordBatch.from_arrays(
                    [pa.array(values, field.type) for values, field in zip(columns, types, strict=True)], schema=types
                )
        # Retention drops what nobody reads. What it dropped before the cursor was opened is known now.
        run(connection, check_journal_offset(partition.since, fail_on_loss=options.fail_on_loss))


def _query(options: Options) -> Composed:
    """Select what a range holds. Plain comparisons let the index on xid work and spare most rows the snapshot test."""
    columns = SQL(", ").join(Identifier(name) for name in stream_schema(options.folded).names)
    view = Identifier("howdah", "audit_journal_calls" if options.folded else "audit_journal")
    queues = SQL("" if options.queues is None else " and (queue = any (%(queues)s) or other_queue = any (%(queues)s))")
    return SQL(
        "select {} from {} where xid >= %(first)s and xid < %(end)s"
        " and pg_visible_in_snapshot(xid::text::xid8, %(upto)s::pg_snapshot)"
        " and not pg_visible_in_snapshot(xid::text::xid8, %(since)s::pg_snapshot){}"
    ).format(columns, view, queues)


def _values(options: Options, partition: Range) -> dict[str, Any]:
    return {
        "first": partition.first_xid,
        "end": partition.end_xid,
        "since": partition.since["snapshot"],
        "upto": partition.upto["snapshot"],
        "queues": None if options.queues is None else list(options.queues),
    }


def _ranges(connection: psycopg.Connection[Any], options: Options, since: Offset, upto: Offset) -> list[InputPartition]:
    rows = run(connection, journal_ranges(since, upto, options.partitions))
    return [Range(since, upto, row["first_xid"], row["end_xid"]) for row in rows]


def _connected(options: Options) -> psycopg.Connection[Any]:
    """A connection in autocommit mode: statements see what was committed before they began."""
    return opened(options.dsn, "howdah journal")


def _arrow_schema(folded: bool) -> pa.Schema:
    """As Spark makes it of stream_schema; it compares the two."""
    import pyarrow as pa

    types = {
        TimestampType(): pa.timestamp("us", "UTC"),
        IntegerType(): pa.int32(),
        LongType(): pa.int64(),
        StringType(): pa.string(),
        BooleanType(): pa.bool_(),
        ArrayType(LongType()): pa.list_(pa.field("element", pa.int64())),
    }
    return pa.schema([pa.field(column.name, types[column.dataType]) for column in stream_schema(folded)])
