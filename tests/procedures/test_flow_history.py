"""Curves of the past: samples that maintenance keeps, and what howdah.flow_history makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from psycopg import sql
from psycopg.rows import dict_row
from support import SYSTEM, Clock, Db, deliver_and_fail, identifier, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_queue('q', '{\"max_failed_deliveries\": 1}')")
    one(db, "select howdah.create_queue('quiet')")
    db.execute("delete from howdah.flow_samples")


@pytest.fixture
def reader(db: Db) -> Iterator[str]:
    """A role that may call what howdah_browser may."""
    name = f"reader_{db.info.dbname[-12:]}"
    db.execute(sql.SQL("create role {0}; grant howdah_browser to {0}").format(identifier(name)))
    yield name
    db.execute(sql.SQL("drop role {}").format(identifier(name)))


def history(db: Db, queue: str | None = None, span: str = "hour") -> list[dict[str, Any]]:
    with db.cursor(row_factory=dict_row) as cursor:
        return cursor.execute("select * from howdah.flow_history(%s, %s)", (queue, span)).fetchall()


def maintain(db: Db, clock: Clock, minutes: float = 1) -> None:
    """Let so much time pass, and do the maintenance."""
    clock.advance(minutes * 60)
    one(db, "select howdah.maintain_backlog()")
    one(db, "select howdah.maintain_totals()")


def flows(rows: list[dict[str, Any]]) -> list[tuple[int, int, int, int]]:
    return [(row["enqueued"], row["dequeued"], row["failed"], row["live"]) for row in rows]


def test_each_minute_shows_what_came_in_went_out_and_failed_in_it(db: Db, clock: Clock) -> None:
    maintain(db, clock)
    one(db, "select howdah.send_batch('q', array['a', 'b', 'c'])")
    maintain(db, clock)
    receive(db)
    maintain(db, clock)
    deliver_and_fail(db)
    maintain(db, clock)
    maintain(db, clock)
    expected = [(3, 0, 0, 3), (0, 1, 0, 2), (0, 1, 1, 1), (0, 0, 0, 1)]
    assert flows(history(db, "q")) == expected
    assert [row["seconds"] for row in history(db, "q")] == [60] * 4
    assert flows(history(db, "quiet")) == [(0, 0, 0, 0)] * 4
    ages = [row["oldest_age"] for row in history(db, "q")]
    assert ages == sorted(ages)
    assert ages[-1] >= timedelta(minutes=4)


def test_the_curve_of_all_queues_holds_each_of_them(db: Db, clock: Clock) -> None:
    maintain(db, clock)
    for name in ("q", "quiet"):
        one(db, "select howdah.send(%s, 'x')", (name,))
    maintain(db, clock)
    assert flows(history(db)) == [(2, 0, 0, 2)]


def test_the_dead_wait_in_the_curve_of_their_exception_destination_only(db: Db, clock: Clock) -> None:
    maintain(db, clock)
    one(db, "select howdah.send('q', 'x')")
    deliver_and_fail(db)
    maintain(db, clock)
    (whole,) = history(db)
    assert (whole["live"], whole["oldest_age"]) == (0, None)
    (there,) = history(db, SYSTEM)
    assert (there["live"], there["oldest_age"]) == (1, timedelta(minutes=1))


def test_a_day_has_quarters_of_an_hour_and_a_week_two_hours(db: Db, clock: Clock) -> None:
    for _ in range(30):
        maintain(db, clock, 15)
        one(db, "select howdah.send('q', 'x')")
    day, week = history(db, "q", "day"), history(db, "q", "week")
    assert len(day) == 29
    assert {row["seconds"] for row in day} == {900}
    assert sum(row["enqueued"] for row in day) == 29
    assert len(week) in (3, 4)
    assert [row["seconds"] for row in week[:-1]] == [7200] * (len(week) - 1)


def test_a_queue_that_was_quiet_for_long_begins_where_it_was(db: Db, clock: Clock) -> None:
    maintain(db, clock)
    one(db, "select howdah.send_batch('q', array['a', 'b', 'c'])")
    for minutes in (1, 15, 14 * 1440, 120, 15, 1):
        maintain(db, clock, minutes)
    one(db, "select howdah.send('q', 'x')")
    maintain(db, clock)
    for _ in range(3):
        maintain(db, clock, 15)
    for span in ("hour", "day", "week"):
        assert sum(row["enqueued"] for row in history(db, "q", span)) == 1, span


def test_a_minute_without_maintenance_is_left_out_and_counts_in_the_next(db: Db, clock: Clock) -> None:
    maintain(db, clock)
    one(db, "select howdah.send('q', 'x')")
    clock.advance(600)
    one(db, "select howdah.send('q', 'x')")
    maintain(db, clock)
    assert [(row["seconds"], row["enqueued"]) for row in history(db, "q")] == [(660, 2)]


def test_samples_are_one_a_minute_and_only_of_queues_that_changed(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send('q', 'x')")
    maintain(db, clock)
    for _ in range(5):
        one(db, "select howdah.maintain_totals()")
    maintain(db, clock)
    samples = "select count(*) from howdah.flow_samples s join howdah.destinations d on d.id = s.destination_id"
    assert one(db, samples + " where s.step = 1") == 1
    assert one(db, "select count(*) from howdah.flow_samples where step = 1 and destination_id = 0") == 2


@pytest.mark.slow
def test_samples_are_bounded_by_number_and_by_age(db: Db, clock: Clock) -> None:
    one(db, "select count(howdah.create_queue('r' || n)) from generate_series(1, 520) n")
    one(db, "select count(howdah.send('r' || n, 'x')) from generate_series(1, 520) n")
    maintain(db, clock)
    assert one(db, "select count(*) from howdah.flow_samples where step = 1") == 501
    maintain(db, clock)
    assert one(db, "select count(distinct destination_id) from howdah.flow_samples where step = 1") == 521
    for minutes in (200, 15, 9 * 1440, 15):
        maintain(db, clock, minutes)
    one(db, "select howdah.drop_queue('r1', force => true)")
    maintain(db, clock, 15)
    old = "select max(n) from (select count(*) as n from howdah.flow_samples where at < howdah.now() - {} group by"
    assert one(db, old.format("interval '8 days'") + " destination_id, step) x") == 1
    old = old.replace(" where", " where step = 1 and")
    assert one(db, old.format("interval '3 hours'") + " destination_id) x") == 1
    assert not one(
        db,
        "select exists (select from howdah.flow_samples s where s.destination_id <> 0 and not exists"
        " (select from howdah.destinations d where d.id = s.destination_id and d.dropped_at is null))",
    )


def test_samples_begin_anew_with_the_totals(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send('q', 'x')")
    maintain(db, clock)
    one(db, "select howdah.reset_metrics()")
    assert one(db, "select count(*) from howdah.flow_samples") == 0


def test_a_curve_is_for_who_may_browse_the_queue_and_that_of_all_for_who_sees_all(db: Db, reader: str) -> None:
    refused(db, "HD001", "select howdah.flow_history('none')")
    for span in ("'year'", "null"):
        refused(db, "HD005", f"select howdah.flow_history(span => {span})")
    db.execute(sql.SQL("set role {}").format(identifier(reader)))
    try:
        assert history(db) == history(db, "q") == []
        db.execute("reset role")
        with db.transaction():
            for operation in ("produce", "consume", "browse"):
                rule = "select howdah.set_rule('default', 'queue', '*', %s, false, 'user', array[%s])"
                one(db, rule, (operation, reader))
            one(db, "select howdah.set_rule('default', 'queue', 'q', 'browse', true, 'user', array[%s])", (reader,))
        db.execute(sql.SQL("set role {}").format(identifier(reader)))
        assert history(db, "q") == []
        refused(db, "HD010", "select howdah.flow_history('quiet')")
        refused(db, "HD010", "select howdah.flow_history()")
    finally:
        db.execute("reset role")
