"""Reports tell how long messages waited, how many lay there, and when a queue will be empty."""

from typing import TYPE_CHECKING

import pytest
from reports_support import (
    DEAD,
    EXITS,
    FULL,
    OFF,
    SUBSCRIPTION,
    TOPIC,
    Make,
    at,
    event,
    kept_maker,
    lay,
    present,
    shown,
)

from howdah.audit.reports.backlog import backlog
from howdah.audit.reports.dead_messages import dead_messages
from howdah.audit.reports.forecast import DRAINS, EMPTY, GROWS, STANDS, UNFED, forecast
from howdah.audit.reports.latency import EXACT, LONGEST, queueing, stays, waits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def make(spark: "SparkSession") -> Make:
    """Views with a handful of rows, at a snapshot two minutes after noon."""
    return kept_maker(spark)


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
