"""What an audit's views hold of a handful of messages, for its reports."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from howdah.audit.reports import Kept
from howdah.audit.reports.backlog import lying
from howdah.audit.reports.latency import stays, waits
from howdah.audit.reports.throughput import flows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)

SCHEMAS = {
    "destinations": "destination_id int, queue string, kind string, is_system boolean, journal_level string,"
    " journal_level_at timestamp, created_at timestamp, dropped_at timestamp, max_failed_deliveries int,"
    " exception_mode string, server_started_at timestamp, journal_kept_from timestamp,"
    " message_groups string, delivery_policy string, groups_at timestamp, count_by string,"
    " backout_count string, read_at timestamp,"
    " incidents_kept_from timestamp, policy_xid long, max_connections int",
    "messages": "message_id long, destination_id int, state string, sent_at timestamp",
    "journal": "at timestamp, destination_id int, event string, message_id long,"
    " other_destination_id int, reason string,"
    " oldest_sent_at timestamp",
    "incidents": "incident_id long, message_id long, destination_id int, outcome string, error_class string,"
    " error_text string, sqlstate string, recorded_at timestamp, fingerprint string",
    "workers": "queue string, worker string, from_at timestamp, until_at timestamp, handled long, failed long,"
    " busy_seconds double, handling_counts string",
    "identity": "destination_id int, messages long",
}

FULL, EXITS, OFF, DEAD, TOPIC, SUBSCRIPTION = range(1, 7)

PLACES = {
    FULL: ("q.full", "queue", False, "full"),
    EXITS: ("q.exits", "queue", False, "exits"),
    OFF: ("q.off", "queue", False, "off"),
    DEAD: ("dead", "queue", True, "exits"),
    TOPIC: ("t", "topic", False, "full"),
    SUBSCRIPTION: ("t:c:s", "subscription", False, "exits"),
}

Rows = Iterable[dict[str, Any]]

Make = Callable[..., Kept]


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def event(
    seconds: float, place: int, what: str, *messages: int, to: int | None = None, **more: Any
) -> list[dict[str, Any]]:
    """Journal rows of one call, unfolded."""
    row = {"at": at(seconds), "destination_id": place, "event": what, "other_destination_id": to}
    return [row | more | {"message_id": message} for message in messages]


def present(seconds: float, place: int, state: str, *messages: int) -> list[dict[str, Any]]:
    return [
        {"message_id": message, "destination_id": place, "state": state, "sent_at": at(seconds)} for message in messages
    ]


def kept_maker(spark: "SparkSession") -> Make:
    """Makes views of rows, at a snapshot two minutes after noon, in buckets of a minute; absent columns are NULL."""

    def frame(name: str, rows: Rows) -> "DataFrame":
        names = [column.split()[0] for column in SCHEMAS[name].split(", ")]
        return spark.createDataFrame([tuple(row.get(column) for column in names) for row in rows], SCHEMAS[name])

    def kept(*, seconds: int = 60, until: float = 120, **rows: Rows) -> Kept:
        rows.setdefault(
            "destinations",
            [
                {
                    "destination_id": number,
                    "queue": name,
                    "kind": kind,
                    "is_system": system,
                    "journal_level": level,
                    "journal_level_at": at(-3600),
                    "created_at": at(-3600),
                    "server_started_at": at(-9000),
                }
                for number, (name, kind, system, level) in PLACES.items()
            ],
        )
        frames = {name: frame(name, rows.get(name, ())) for name in SCHEMAS}
        return Kept(**frames, first=NOON, taken_at=at(until), seconds=seconds)

    return kept


def shown(frame: "DataFrame", *columns: str) -> list[tuple[Any, ...]]:
    """Some columns of the rows in their order; times as seconds from noon."""
    return [
        tuple((row[name] - NOON).total_seconds() if isinstance(row[name], datetime) else row[name] for name in columns)
        for row in frame.toArrow().to_pylist()
    ]


def lay(kept: Kept) -> "DataFrame":
    return lying(flows(kept), waits(stays(kept), kept), kept)
