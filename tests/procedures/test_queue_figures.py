"""Kept figures of queues, for whoever looks often: they are never counted at a look."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from psycopg.rows import dict_row
from support import SYSTEM, Clock, Db, deliver_and_fail, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q', '{\"max_failed_deliveries\": 1}')")


def figures(db: Db, *queues: str, busiest: int = 100) -> list[dict[str, Any]]:
    with db.cursor(row_factory=dict_row) as cursor:
        return cursor.execute("select * from howdah.queue_figures(%s, %s)", (list(queues), busiest)).fetchall()


def count(db: Db) -> None:
    one(db, "select howdah.maintain_totals()")
    one(db, "select howdah.maintain_backlog()")


def test_the_figures_are_those_of_queue_stats_once_maintenance_has_counted(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send_batch('q', array['a', 'b', 'c'])")
    one(db, "select howdah.send('q', 'later', delay => '1 h')")
    receive(db)
    deliver_and_fail(db)
    clock.advance(7)
    count(db)
    names = "live, in_hand, parked, dead, enqueued, dequeued, consumers, oldest_age"
    stats = db.execute(f"select {names} from howdah.queue_stats('q')".encode()).fetchall()
    assert (
        db.execute(f"select {names} from howdah.queue_figures('{{q}}', 0) where queue_name = 'q'".encode()).fetchall()
        == stats
    )
    first, *_ = figures(db)
    assert [first[name] for name in ("live", "parked", "dead", "dequeued")] == [1, 1, 1, 2]
    assert first["enqueued"] == 5, "with the dead one, which came in twice"


def test_the_dead_wait_in_the_row_of_their_exception_destination_only(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send('q', 'x')")
    deliver_and_fail(db)
    clock.advance(60)
    one(db, "select howdah.send('q', 'y')")
    clock.advance(5)
    count(db)
    first, there = figures(db, SYSTEM, busiest=0)
    assert (first["live"], first["dead"], first["oldest_age"]) == (1, 1, timedelta(seconds=5))
    assert (there["live"], there["dead"], there["oldest_age"]) == (1, 0, timedelta(seconds=65))
    receive(db)
    count(db)
    first = figures(db)[0]
    assert (first["live"], first["dead"], first["oldest_age"]) == (0, 1, None)


LOW_BOUND = b"""create or replace function howdah._counting_bound() returns bigint language sql immutable
as $$ select 1::bigint $$"""
EXCEPTIONS = "select queue_name, dead, waiting, oldest_age from howdah.exception_figures()"


@pytest.mark.parametrize("most", [None, 1])
def test_an_exception_destination_tells_its_dead_from_what_waits_there(db: Db, clock: Clock, most: int | None) -> None:
    """Counted now, and as counted in the background where there are too many."""
    one(db, "select howdah.create_queue('repair')")
    one(db, """select howdah.alter_queue('q', '{"exception_mode": "named", "exception_queue": "repair"}')""")
    for _ in range(2):
        one(db, "select howdah.send('q', 'x')")
        deliver_and_fail(db)
    clock.advance(60)
    one(db, "select howdah.send('repair', 'x')")
    clock.advance(5)
    if most is not None:
        count(db)
        db.execute(LOW_BOUND)
    rows = db.execute(EXCEPTIONS.encode()).fetchall()
    assert rows == [(SYSTEM, 0, 0, None), ("repair", 2, 1, timedelta(seconds=5))]


def test_a_look_counts_nothing_however_old_the_figures_are(db: Db, clock: Clock) -> None:
    assert figures(db)[0]["live"] is None
    assert figures(db)[0]["counted_at"] is None
    count(db)
    one(db, "select howdah.send('q', 'x')")
    clock.advance(86_400)
    found = figures(db, "q")[1]
    assert found["live"] == 0
    assert (found["asked_at"] - found["counted_at"]).total_seconds() == 86_400


def test_the_busiest_come_first_and_named_ones_too_and_no_other(db: Db) -> None:
    one(db, "select count(howdah.create_queue('r' || n)) from generate_series(1, 9) n")
    one(db, "select howdah.send_batch('r3', array['a', 'b'])")
    one(db, "select howdah.send('r7', 'x')")
    count(db)
    first, *rows = figures(db, "r9", "none", busiest=2)
    assert [row["queue_name"] for row in rows] == ["r3", "r7", "r9"]
    assert first["queue_name"] is None
    assert first["queue_count"] == one(db, "select count(*) from howdah.list_queues()")
    assert first["sees_all"]
    assert [row["queue_name"] for row in figures(db, busiest=0)] == [None]


@pytest.mark.parametrize(
    "arguments", ["'{}', -1", "'{}', 1001", "'{}', null", "array(select n::text from generate_series(1, 1001) n), 1"]
)
def test_more_than_a_thousand_queues_at_once_are_refused(db: Db, arguments: str) -> None:
    refused(db, "HD005", f"select howdah.queue_figures({arguments})")


def test_names_of_queues_are_shown_page_by_page(db: Db) -> None:
    one(db, "select count(howdah.create_queue('Page' || n)) from generate_series(1, 5) n")
    names = "select array_agg(n) from howdah.queue_names(%s, %s, 2) n"
    assert one(db, names, ("page", None)) == ["Page1", "Page2"]
    assert one(db, names, ("PAGE", "Page4")) == ["Page5"]
    assert one(db, names, ("%", None)) is None
    refused(db, "HD005", "select howdah.queue_names(max_names => 0)")


def test_failed_deliveries_are_those_of_each_queue_and_of_all_that_the_caller_sees(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_queue('other', '{\"max_failed_deliveries\": 9}')")
    one(db, "select howdah.send('other', 'x')")
    one(db, "select howdah.send('q', 'x')")
    deliver_and_fail(db)
    deliver_and_fail(db, "other")
    deliver_and_fail(db, "other", error_class="Another")
    assert [row["failed"] for row in figures(db, "q", "other", busiest=0)] == [0, 0, 0]
    clock.advance(60)
    count(db)
    assert {row["queue_name"]: row["failed"] for row in figures(db, "q", "other", busiest=0)} == {
        None: 3,
        "q": 1,
        "other": 2,
    }
