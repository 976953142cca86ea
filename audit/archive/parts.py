"""What is archived, and the sum of hashes by which the database and Spark agree that it is the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from ..read import COLUMNS

HASH_DIGITS = 15
"""Hexadecimal digits of each row's SHA-256 that are summed: 60 bits, so that sums of a billion rows fit a decimal."""

HALF_BITS = 30

FOLDER_BYTES = 80
"""Longest queue name used as a folder's name. Spark's escapes make it three times as long, and 255 is the limit."""


@dataclass(frozen=True)
class Part:
    """A part of the archive: the view it is read from, its columns, the column that dates it, and what is new of it.

    by_xid: its rows have their transaction and their place. New is then what the snapshot before did not show.
    """

    name: str
    view: str
    columns: tuple[str, ...]
    day: str
    by_xid: bool
    counted: str

    def condition(self, since: str | None) -> str:
        """SQL that is true of what is new since a snapshot, None: since ever."""
        if not self.by_xid:
            return "not v.archived"
        return beyond("v.xid", since) if since else "true"

    def select(self, since: str | None, *, place: bool = False) -> str:
        """Return SQL of what is new, with folder names. queue, a folder, is called queue_name. place: select it too."""
        columns = ", ".join("v.queue as queue_name" if name == "queue" else f"v.{name}" for name in self.columns)
        return (
            f"select {columns}, to_char(v.{self.day} at time zone 'UTC', 'YYYY-MM-DD') as date,"
            f" case when octet_length(v.queue) <= {FOLDER_BYTES} then v.queue"
            f" else left(v.queue, 20) || '~' || v.destination_id end as queue{', v.place' if place else ''}"
            f" from howdah.{self.view} v where {self.condition(since)}"
        )


def _names(columns: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in columns.split(","))


def _with(names: tuple[str, ...], *more: str) -> tuple[str, ...]:
    return (*names, *(name for name in more if name not in names))


JOURNAL = Part("journal", "audit_journal", _with(_names(COLUMNS["audit_journal"]), "xid"), "at", True, "journal")
INCIDENTS = Part(
    "incidents",
    "archive_incidents",
    _with(
        _names(COLUMNS["audit_incidents"]),
        *_names(
            "fingerprint, traceback, details, failure_key, boot, rejected, delay_ms, uncounted, message_group, xid"
        ),
    ),
    "recorded_at",
    True,
    "incident",
)
MESSAGES = Part(
    "messages",
    "archive_messages",
    _names(
        "message_id, destination_id, queue, stage, origin_id, origin_queue, priority, nonpersistent, sent_at,"
        " expires_at, dead_at,"
        " dead_reason, is_text, content_type, headers, correlation_id, reply_to, message_type, conversation_id, body,"
        " reliability"
    ),
    "dead_at",
    False,
    "message",
)
PARTS = (JOURNAL, INCIDENTS, MESSAGES)
"""counted begins the names of their columns in archive_runs."""


@dataclass(frozen=True)
class Figures:
    """How many rows, and the sum of their hashes as a decimal number."""

    rows: int
    checksum: str


def beyond(xid: str, snapshot: str) -> str:
    """SQL that is true of transaction numbers not visible in a snapshot; its first half can use an index."""
    if set(snapshot) - set("0123456789:,"):
        raise ValueError(f"{snapshot!r} is not a snapshot")
    return (
        f"({xid} >= pg_snapshot_xmin('{snapshot}')::text::bigint"
        f" and not pg_visible_in_snapshot({xid}::text::xid8, '{snapshot}'))"
    )


def data_schema(schema: StructType) -> StructType:
    """A schema without the columns that are folders."""
    return StructType([field for field in schema.fields if field.name not in ("date", "queue")])


def sql_hash(schema: StructType) -> str:
    """SQL of a row's hash (numeric), from the columns of a schema; the same as ``spark_hash``."""
    words = []
    for field in schema.fields:
        value = {
            "timestamp": f"(extract(epoch from {field.name}) * 1000000)::bigint::text",
            "binary": f"encode(sha256({field.name}), 'hex')",
        }.get(field.dataType.typeName(), f"{field.name}::text")
        words.append(f"coalesce(octet_length({value}) || ':' || {value}, '-')")
    text = " || ".join(words)
    digits = f"left(encode(sha256(convert_to({text}, 'UTF8')), 'hex'), {HASH_DIGITS})"
    return f"('x' || lpad({digits}, 16, '0'))::bit(64)::bigint::numeric"


def spark_hash(schema: StructType) -> Column:
    """A row's hash, of the lengths and texts of its values. So rows do not collide by where a value ends."""
    words = []
    for field in schema.fields:
        value = F.col(field.name)
        kind = field.dataType.typeName()
        if kind == "timestamp":
            value = F.unix_micros(value)
        elif kind == "binary":
            value = F.sha2(value, 256)
        word = value.cast("string")
        words.append(F.coalesce(F.concat(F.octet_length(word).cast("string"), F.lit(":"), word), F.lit("-")))
    digits = F.substring(F.sha2(F.concat(*words), 256), 1, HASH_DIGITS)
    return F.conv(digits, 16, 10).cast("bigint")


def is_bulky(schema: StructType) -> bool:
    """Whether rows hold bodies: a few may be as large as thousands of other rows."""
    return any(field.dataType.typeName() == "binary" for field in schema.fields)


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    """A setting of the session for the block, where readers and writers have no option for it."""
    before = str(spark.conf.get(name))
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.set(name, before)


def figures(spark: SparkSession, parts: dict[str, tuple[DataFrame, StructType]]) -> dict[str, Figures]:
    """Count and checksum of DataFrames by name: one job, and one for those with bodies, read row by row."""
    found = {}
    for bulky in (False, True):
        summed = [_sums(name, rows, schema) for name, (rows, schema) in parts.items() if is_bulky(schema) is bulky]
        if not summed:
            continue
        with setting(spark, "spark.sql.parquet.enableVectorizedReader", str(not bulky).lower()):
            for name, count, high, low in reduce(DataFrame.unionAll, summed).collect():
                found[name] = Figures(count, str((high << HALF_BITS) + low))
    return found


def _sums(name: str, rows: DataFrame, schema: StructType) -> DataFrame:
    hashed = rows.select(spark_hash(schema).alias("hash"))
    # Sums of halves fit whole numbers. Decimals would take several times as long.
    high = F.sum(F.shiftright("hash", HALF_BITS))
    low = F.sum(F.col("hash").bitwiseAND((1 << HALF_BITS) - 1))
    return hashed.select(F.lit(name), F.count(F.lit(1)), F.coalesce(high, F.lit(0)), F.coalesce(low, F.lit(0)))
