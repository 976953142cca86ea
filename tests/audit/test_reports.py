"""Each report says what its rows are, by a handful of messages whose fate is known."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from howdah.audit import AuditError
from howdah.audit.reports import Kept
from howdah.audit.reports.backlog import backlog, lying
from howdah.audit.reports.catalogue import make_reports
from howdah.audit.reports.dead_messages import dead_messages
from howdah.audit.reports.failures import causes, redelivery
from howdah.audit.reports.forecast import DRAINS, EMPTY, GROWS, STANDS, UNFED, forecast
from howdah.audit.reports.kept import ROWS_MAX, bucket_seconds
from howdah.audit.reports.latency import EXACT, LONGEST, queueing, stays, waits
from howdah.audit.reports.throughput import flows, throughput
from howdah.audit.reports.workers import balance, handling, slow_consumers

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


@pytest.fixture(scope="module")
def make(spark: "SparkSession") -> Make:
    """Views with these rows, at a snapshot two minutes after noon, in buckets of a minute; absent columns are NULL."""

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


def test_buckets_are_round_and_few() -> None:
    spans = {0: 1, 120: 1, 121: 5, 7200: 60, 86_400: 1800, 90 * 86_400: 86_400, 3650 * 86_400: 604_800}
    assert {span: bucket_seconds(span) for span in spans} == spans


def test_of_many_queues_buckets_are_longer_so_that_reports_fit_into_the_drivers_memory() -> None:
    year = 365 * 86_400
    for queues in (1, 100, 5_000, 100_000, 400_000, 3_000_000):
        for span in (0, 600, year, 10 * year):
            seconds = bucket_seconds(span, queues)
            assert span / seconds * queues <= max(ROWS_MAX, queues)
    many = [bucket_seconds(86_400, queues) for queues in (1, 4_000, 10_000, 50_000)]
    assert many == [1800, 1800, 1800, 10_800]


def test_a_report_of_most_rows_takes_little_memory(make: Make) -> None:
    """What the driver's Python holds of one, text of the longest name included."""
    kept = make(journal=event(0, FULL, "sent", 1))
    row = throughput(flows(kept), kept).toArrow()
    assert (row.nbytes + 242) * ROWS_MAX < 200 << 20


def test_throughput_counts_what_came_and_went_of_each_bucket(make: Make) -> None:
    kept = make(
        journal=[
            *event(0, FULL, "sent", 1, 2, 3),
            *event(59.9, FULL, "consumed", 1),
            *event(60, FULL, "moved", 2, to=DEAD),
            *event(61, DEAD, "replayed", 2, to=FULL),
            *event(62, FULL, "consumed", 2),
            *event(62, FULL, "expired", 3),
        ]
    )

    columns = (
        "sent",
        "moved_in",
        "replayed_in",
        "consumed",
        "expired",
        "moved_out",
        "replayed_out",
        "came_in",
        "went_out",
    )
    assert shown(throughput(flows(kept), kept), "queue", "bucket_at", "seconds", *columns) == [
        ("dead", 60, 60, 0, 1, 0, 0, 0, 0, 1, 1, 1),
        ("q.full", 0, 60, 3, 0, 0, 1, 0, 0, 0, 3, 1),
        ("q.full", 60, 60, 0, 0, 1, 1, 1, 1, 0, 1, 3),
    ]


def test_waits_are_exact_where_sends_are_recorded_and_the_longest_of_each_receive_elsewhere(make: Make) -> None:
    kept = make(
        journal=[
            *event(0, FULL, "sent", 1, 2, 3),
            *event(1, FULL, "consumed", 1),
            *event(3, FULL, "consumed", 2, oldest_sent_at=at(0)),
            *event(65, FULL, "moved", 3, to=DEAD),
            *event(70, DEAD, "replayed", 3, to=FULL),
            # Counted from when it came back, not from the send before it failed.
            *event(75, FULL, "consumed", 3),
            # One receive of three messages, and one of one.
            *event(10, EXITS, "consumed", 11, 12, 13, oldest_sent_at=at(6)),
            *event(20, EXITS, "consumed", 14, oldest_sent_at=at(18)),
            *event(0, TOPIC, "sent", 21),
            *event(8, SUBSCRIPTION, "consumed", 21, oldest_sent_at=at(0)),
        ]
    )

    found = queueing(waits(stays(kept), kept), kept)
    assert shown(found, "queue", "basis", "bucket_at", "waits", "p50_ms", "max_ms") == [
        ("q.exits", LONGEST, None, 2, 2000, 4000),
        ("q.exits", LONGEST, 0, 2, 2000, 4000),
        ("q.full", EXACT, None, 3, 3000, 5000),
        ("q.full", EXACT, 0, 2, 1000, 3000),
        ("q.full", EXACT, 60, 1, 5000, 5000),
        ("t:c:s", EXACT, None, 1, 8000, 8000),
        ("t:c:s", EXACT, 0, 1, 8000, 8000),
    ]


def test_percentiles_of_many_waits_are_right_to_their_place(make: Make) -> None:
    kept = make(journal=event(0, FULL, "sent", *range(1, 1001)) + [
        row for number in range(1, 1001) for row in event(number / 1000, FULL, "consumed", number)
    ])  # fmt: skip

    whole, _ = shown(queueing(waits(stays(kept), kept), kept), "p50_ms", "p90_ms", "p99_ms", "max_ms")
    assert whole == (500, 900, 990, 1000)


def test_backlog_and_age_are_reckoned_back_from_what_is_there(make: Make) -> None:
    kept = make(
        until=150,
        journal=[
            *event(10, FULL, "sent", 1, 2),
            *event(70, FULL, "consumed", 1),
            *event(80, FULL, "sent", 3),
            *event(130, FULL, "discarded", 2),
        ],
        messages=[
            *present(80, FULL, "live", 3),
            *present(-500, FULL, "parked", 4),  # sent before the journal begins
            *present(5, EXITS, "live", 9),
        ],
    )

    found = backlog(lay(kept), kept)
    assert shown(found, "queue", "ends_at", "messages", "oldest_seconds") == [
        ("q.full", 60, 3, 560),
        ("q.full", 120, 3, 620),
        ("q.full", 150, 2, 650),
    ]


def test_the_age_is_that_of_what_was_there_and_not_of_what_came_later(make: Make) -> None:
    kept = make(
        journal=[
            *event(10, FULL, "sent", 1),
            *event(30, FULL, "consumed", 1),
            *event(90, FULL, "sent", 2),
        ],
        messages=present(90, FULL, "live", 2),
    )

    found = backlog(lay(kept), kept)
    assert shown(found, "ends_at", "messages", "oldest_seconds") == [(60, 0, None), (120, 1, 30), (120, 1, 30)]


def test_backlog_before_the_journal_was_complete_is_not_claimed(make: Make) -> None:
    place = {
        "destination_id": FULL,
        "queue": "q",
        "kind": "queue",
        "is_system": False,
        "journal_level": "full",
        "journal_level_at": at(0),
        "created_at": at(-3600),
    }
    kept = make(
        until=180, destinations=[place], journal=event(100, FULL, "sent", 1), messages=present(100, FULL, "live", 1)
    )

    # What was begun under the old level may take a minute to end.
    found = backlog(lay(kept), kept)
    assert shown(found, "ends_at", "messages")[:2] == [(60, 0), (120, 1)]


def test_messages_are_told_by_their_failures(make: Make) -> None:
    incidents = [
        {"incident_id": number, "message_id": message, "destination_id": FULL}
        for number, message in enumerate([1, 2, 2, *[3] * 25])
    ]
    kept = make(
        incidents=incidents,
        identity=[{"destination_id": FULL, "messages": 10}, {"destination_id": EXITS, "messages": 0}],
    )

    assert shown(redelivery(kept), "queue", "failures", "messages") == [
        ("q.full", 0, 7), ("q.full", 1, 1), ("q.full", 2, 1), ("q.full", 11, 1)
    ]  # fmt: skip


def test_causes_are_counted_by_fingerprint_with_the_newest_as_sample(make: Make) -> None:
    def incident(number: int, message: int, fingerprint: str, place: int = FULL) -> dict[str, Any]:
        error = {"error_class": "E", "error_text": f"no {number}", "sqlstate": None, "recorded_at": at(number)}
        return error | {
            "incident_id": number, "message_id": message, "destination_id": place, "fingerprint": fingerprint
        }  # fmt: skip

    kept = make(
        incidents=[
            incident(1, 1, "rare"), incident(2, 1, "often"), incident(3, 1, "often"), incident(4, 2, "often", EXITS)
        ],
        messages=present(0, DEAD, "dead", 1) + present(0, FULL, "live", 2),
    )  # fmt: skip

    columns = (
        "fingerprint",
        "messages",
        "incidents",
        "dead",
        "queues",
        "first_at",
        "last_at",
        "sample_text",
        "sample_message",
    )
    assert shown(causes(kept), *columns) == [
        ("often", 2, 3, 1, 2, 2, 4, "no 4", 2),
        ("rare", 1, 1, 0, 1, 1, 1, "no 1", 1),
    ]


def test_dead_messages_grow_by_what_is_moved_to_them(make: Make) -> None:
    kept = make(
        journal=[
            *event(10, FULL, "moved", 1, 2, to=DEAD, reason="failed deliveries reached the limit"),
            *event(20, FULL, "moved", 3, to=EXITS, reason="an operator wanted it so"),
            *event(70, FULL, "moved", 4, to=DEAD, reason="rejected by its handler"),
            *event(80, DEAD, "discarded", 1),
        ],
        messages=present(0, DEAD, "dead", 2, 4) + present(0, EXITS, "live", 3),
    )

    assert shown(dead_messages(lay(kept), kept), "queue", "bucket_at", "came_in", "went_out", "messages") == [
        ("dead", 0, 2, 0, 2),
        ("dead", 60, 1, 1, 2),
        ("dead", 120, 0, 0, 2),
    ]


def test_a_drain_is_foretold_from_the_recent_rate_and_only_where_there_is_one(make: Make) -> None:
    kept = make(
        until=600,
        journal=[
            *event(0, FULL, "sent", *range(1, 100)),  # not recent
            *event(550, FULL, "sent", *range(100, 130)),
            *event(560, FULL, "consumed", *range(1, 91)),
            *event(570, EXITS, "consumed", 500, 501, 502),
        ],
        messages=[
            *present(0, FULL, "live", *range(91, 120)),
            *present(0, FULL, "parked", 120),
            *present(0, EXITS, "live", 510),
            *present(0, OFF, "live", 520),
        ],
    )

    columns = ("queue", "ready", "waiting", "came_in_per_second", "went_out_per_second", "drain_seconds", "outlook")
    assert shown(forecast(kept), *columns) == [
        ("q.exits", 1, 0, None, 0.05, 20, UNFED),
        ("q.full", 29, 1, 0.5, 1.5, 30, DRAINS),
        ("q.off", 1, 0, None, None, None, "not known: the queue keeps no journal"),
    ]
    assert {row["recent_seconds"] for row in forecast(kept).toArrow().to_pylist()} == {60}


def test_a_queue_that_grows_stands_or_is_empty_has_no_drain_time(make: Make) -> None:
    for sent, consumed, outlook in ((3, 1, GROWS), (1, 1, GROWS), (1, 0, STANDS)):
        kept = make(
            journal=[*event(90, FULL, "sent", *range(sent)), *event(91, FULL, "consumed", *range(consumed))],
            messages=present(0, FULL, "live", 99),
        )
        (found,) = [row for row in shown(forecast(kept), "queue", "drain_seconds", "outlook") if row[0] == "q.full"]
        assert found == ("q.full", None, outlook)
    assert {row[0] for row in shown(forecast(make()), "outlook")} == {EMPTY}


def figures(
    worker: str, counts: dict[int, int], busy: float, queue: str = "q.full", until: float = 60
) -> dict[str, Any]:
    listed = [counts.get(place, 0) for place in range(32)]
    return {
        "queue": queue,
        "worker": worker,
        "from_at": at(until - 60),
        "until_at": at(until),
        "handled": sum(listed),
        "failed": 1,
        "busy_seconds": busy,
        "handling_counts": ",".join(map(str, listed)),
    }


def test_handling_times_are_bounds_of_the_workers_bins_by_bucket_and_over_all(make: Make) -> None:
    kept = make(
        workers=[
            figures("a", {10: 60}, 0.06, until=59),
            figures("a", {10: 38}, 0.03, until=119),
            figures("b", {11: 1, 31: 1}, 2000.0, until=110),
            figures("b", {}, 0.0, "idle"),
            figures("b", {}, 0.0, until=180),
        ]
    )

    # Bin 10 of those from 0 holds what took under 2^10 microseconds; the last one has no bound.
    columns = ("queue", "bucket_at", "calls", "p50_ms", "p90_ms", "p99_ms", "longest_ms", "mean_ms")
    assert [(*row[:-1], round(row[-1], 3)) for row in shown(handling(kept), *columns)] == [
        ("q.full", None, 100, 1.024, 1.024, 2.048, None, 20000.9),
        ("q.full", 0, 60, 1.024, 1.024, 1.024, 1.024, 1),
        ("q.full", 60, 40, 1.024, 1.024, None, None, 50000.75),
    ]


def test_a_worker_is_slow_by_the_others_of_its_queue(make: Make) -> None:
    kept = make(
        workers=[
            figures("quick", {10: 60}, 0.06),
            figures("usual", {10: 40}, 0.04),
            figures("slow", {12: 50}, 0.25),
            figures("new", {14: 10}, 0.5),  # too few calls to say
            figures("alone", {20: 100}, 100.0, "q.other"),
        ]
    )
    balanced = balance(kept)

    assert shown(balanced, "queue", "worker", "handled", "share", "slow") == [
        ("q.full", "quick", 60, 60 / 160, False),
        ("q.full", "slow", 50, 50 / 160, True),
        ("q.full", "usual", 40, 40 / 160, False),
        ("q.full", "new", 10, 10 / 160, False),
        ("q.other", "alone", 100, 1, False),
    ]
    (slow,) = slow_consumers(balanced.toArrow()).to_pylist()
    assert (slow["worker"], slow["mean_ms"], slow["usual_ms"]) == ("slow", 5, 1)


def test_too_many_buckets_are_refused(make: Make, tmp_path: Any) -> None:
    kept = make(journal=event(0, FULL, "sent", 1))
    views = {f"audit_{name}": getattr(kept, name) for name in SCHEMAS if name != "identity"}
    with pytest.raises(AuditError, match="take longer ones"):
        make_reports(views, kept.identity, str(at(20_000)), tmp_path / "reports", 1)
    crowd = kept.identity.sparkSession.range(30_000).selectExpr("cast(id as int) destination_id", "0L messages")
    with pytest.raises(
        AuditError, match=r"make reports of more than 500,000 rows for 30,00\d queues: take longer ones"
    ):
        make_reports(views, crowd, str(at(20_000)), tmp_path / "reports", 600)
