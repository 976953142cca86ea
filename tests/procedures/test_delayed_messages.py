"""A delayed message comes at its time and not before, and is listed and cancelled until then."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest
from policy_support import Create
from scheduling_support import bodies, schedule
from support import Clock, Connect, Db, column, one, receive, refused


def test_one_delivery_to_a_queue_is_a_delayed_message_for_which_nothing_has_to_run(
    db: Db, clock: Clock, create: Create
) -> None:
    create()
    number = schedule(db, starts_at=clock.now + timedelta(hours=1))
    assert column(db, "select schedule_id from howdah.list_schedules(all_states => true)") == []
    assert column(db, "select message_id from howdah.list_delayed('q')") == [number]
    clock.advance(3599)
    assert bodies(db) == []
    clock.advance(1)
    assert bodies(db) == ["x"]


def test_delayed_messages_are_listed_in_order_and_cancelled_by_number_all_or_none(
    db: Db, clock: Clock, connect: Connect, create: Create
) -> None:
    create()
    late = one(db, "select howdah.send('q', 'late', delay => '2 h', priority => 9)")
    soon = one(db, "select howdah.send('q', 'soon', delay => '1 h')")
    volatile = one(db, "select howdah.send('q', 'xy', delay => '3 h', delivery_mode => 'non-persistent')")
    ready = one(db, "select howdah.send('q', 'now')")
    listed = db.execute("select message_id, due_at - sent_at, bytes from howdah.list_delayed('q')").fetchall()
    assert listed == [(soon, timedelta(hours=1), 4), (late, timedelta(hours=2), 4), (volatile, timedelta(hours=3), 2)]
    assert column(db, "select message_id from howdah.list_delayed('q', 1)") == [soon]
    producer = connect("howdah_producer")
    for ids in ([soon, ready], [soon, 1], [soon, None]):
        with pytest.raises(psycopg.Error) as raised:
            one(producer, "select howdah.cancel_delayed('q', %s::bigint[])", (ids,))
        assert raised.value.sqlstate == "HD013"
    assert one(producer, "select howdah.cancel_delayed('q', %s::bigint[])", ([late, volatile],)) == 2
    assert one(db, "select discarded from howdah.queue_stats('q')") == 2
    clock.advance(3600)
    refused(producer, "HD013", f"select howdah.cancel_delayed('q', array[{soon}])")
    assert [m.message_id for m in receive(db, n=10)] == [soon, ready]


def test_delayed_messages_of_a_range_of_time_are_cancelled_by_the_queues_administrator(
    db: Db, clock: Clock, connect: Connect, create: Create
) -> None:
    create()
    for hours in (1, 2, 3):
        one(db, "select howdah.send('q', %s, delay => %s)", (str(hours), timedelta(hours=hours)))
    refused(connect("howdah_producer"), "HD010", "select howdah.cancel_delayed_range('q')")
    window = (clock.now + timedelta(hours=2), clock.now + timedelta(hours=2))
    assert one(db, "select howdah.cancel_delayed_range('q', %s, %s)", window) == 1
    clock.advance(4 * 3600)
    assert bodies(db) == ["1", "3"]


def test_a_message_is_due_at_the_time_that_delay_until_names_and_not_before(
    db: Db, clock: Clock, create: Create
) -> None:
    create()
    at = clock.now + timedelta(days=40, microseconds=1)
    one(db, "select howdah.send('q', 'x', delay => howdah.delay_until(%s))", (at,))
    clock.set(at - timedelta(microseconds=1))
    assert receive(db, n=1) == receive(db, n=1, verb="browse") == []
    clock.set(at)
    assert bodies(db) == ["x"]
    assert one(db, "select howdah.delay_until('2000-01-01')") == timedelta(0)
    refused(db, "HD005", "select howdah.delay_until('infinity')")


def test_who_waits_is_woken_once_when_a_message_becomes_due(
    db: Db, clock: Clock, connect: Connect, create: Create
) -> None:
    create()
    one(db, "select howdah.send('q', 'x', delay => '10 s')")
    listening = connect()
    listening.execute("listen howdah")
    woken, next_in, since = db.execute("select woken, next_in, now from howdah.wake_due(null)").fetchall()[0]
    assert (woken, next_in) == (0, None)
    payload = one(db, "select payload from howdah.wait('q')")
    assert db.execute("select woken, next_in from howdah.wake_due(%s)", (since,)).fetchall() == [(0, 10.0)]
    clock.advance(10)
    woken, _, since = db.execute("select woken, next_in, now from howdah.wake_due(%s)", (since,)).fetchall()[0]
    assert woken == 1
    assert [n.payload for n in listening.notifies(timeout=20, stop_after=1)] == [payload]
    assert db.execute("select woken, next_in from howdah.wake_due(%s)", (since,)).fetchall() == [(0, None)]
