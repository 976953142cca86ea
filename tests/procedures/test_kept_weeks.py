"""Kept messages go with their week when their time is over, or with their queue."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from kept_support import HOUR, IDS, by_one, by_receive, rows, send
from policy_support import Create
from support import (
    Clock,
    Connect,
    Db,
    column,
    one,
    receive,
    refused,
    wait_until_blocked,
)


@pytest.mark.slow
def test_what_is_past_its_time_is_shown_to_nobody_and_goes_with_its_week(
    db: Db, create: Create, clock: Clock, connect: Connect
) -> None:
    create(keep_bodies_ms=HOUR)
    create("longer", keep_bodies_ms=HOUR * 24 * 20)
    assert one(db, "select howdah.maintain_journal()") == 9 + 52
    assert one(db, "select howdah.maintain_journal()") == 0
    send(db)
    send(db, "longer")
    by_receive(db)
    receive(db, "longer")
    clock.advance(3599)
    assert len(column(db, IDS)) == 1
    clock.advance(1)
    assert column(db, IDS) == []
    refused(db, "HD013", "select howdah.replay_kept('q', %s)", ([1],))
    assert one(db, "select howdah.replay_kept('q')") == 0
    clock.advance(86400 * 19)
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.kept_messages") == 2
    assert one(db, "select count(*) from howdah.browse_kept('longer')") == 1
    clock.advance(86400)
    weeks = "select count(*) from pg_inherits where inhparent = 'howdah.kept_messages'::regclass"
    before = one(db, weeks)
    reader = connect()
    with reader.transaction():
        one(reader, "select count(*) from howdah.kept_messages")
        one(db, "select howdah.maintain_journal()")
        assert one(db, "select count(*) from howdah.kept_messages") == 2
        assert one(db, "select reason from howdah.maintenance_waits where service = 'kept' limit 1")
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.kept_messages") == 0
    assert one(db, weeks) < before
    assert column(db, "select object from howdah.maintenance_waits where service = 'kept'") == []


def test_until_a_week_is_dropped_maintenance_hinders_no_consumer(
    db: Db, create: Create, clock: Clock, connect: Connect
) -> None:
    create(keep_bodies_ms=HOUR)
    clock.set(datetime(2026, 12, 2, 12, tzinfo=UTC))  # a Wednesday: from a Sunday on, 15 days end three weeks
    one(db, "select howdah.maintain_journal()")
    for _ in range(2):
        send(db)
    by_one(db)
    clock.advance(86400 * 15)
    consumer = connect()
    consumer.execute("set lock_timeout = '1s'")
    with db.transaction():
        due = one(db, "select p_due::text[] from howdah._maintain_kept()")
        assert len(due) == 2
        by_one(consumer)
        assert one(db, "select howdah._drop_kept(%s::text[]::regclass[])", (due,)) == 2
    assert one(db, "select count(*) from howdah.kept_messages") == 1
    assert one(db, "select pg_get_functiondef('howdah.maintain_journal'::regproc) ~ '_drop_kept[^;]*;\\s*end'")


@pytest.mark.slow
def test_the_weeks_around_new_year_have_partitions_and_go_one_by_one(db: Db, create: Create, clock: Clock) -> None:
    create(keep_bodies_ms=HOUR * 24 * 14)
    clock.set(datetime(2026, 12, 20, 12, tzinfo=UTC))
    weeks = (
        "select array_agg(right(c.relname, 7) order by c.relname) from pg_class c join pg_inherits i"
        " on i.inhrelid = c.oid where i.inhparent = 'howdah.kept_messages'::regclass and c.relname ~ 'w'"
    )
    one(db, "select howdah.maintain_journal()")
    assert one(db, weeks) == ["2026w51", "2026w52", "2026w53", *(f"2027w0{week}" for week in range(1, 7))]
    for day in (20, 27, 34, 41, 48):  # each of them a Sunday: one message in its last second, one in the next week
        clock.set(datetime(2026, 12, 1, 23, 59, 59, 999999, tzinfo=UTC) + timedelta(days=day - 1))
        for _ in range(2):
            send(db)
            by_one(db)
            clock.advance(0.000001)
        one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.kept_messages_default") == 0
    assert len(column(db, IDS)) == 4
    assert one(db, weeks)[0] == "2027w01"


def test_a_week_without_a_partition_lies_in_the_default_one_until_all_of_it_is_past(
    db: Db, create: Create, clock: Clock
) -> None:
    create(keep_bodies_ms=HOUR)
    number = send(db)
    by_one(db)
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.kept_messages_default") == 1
    assert column(db, IDS) == [number]
    clock.advance(3600)
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.kept_messages_default") == 0
    assert one(db, "select howdah.maintain_journal()") > 0
    later = send(db)
    by_one(db)
    assert one(db, "select count(*) from howdah.kept_messages_default") == 0
    assert column(db, IDS) == [later]


def test_a_week_whose_first_message_is_kept_meanwhile_does_not_stop_maintenance(
    db: Db, create: Create, connect: Connect
) -> None:
    create(keep_bodies_ms=HOUR)
    number = send(db)
    consumer, keeper = connect(), connect()
    thread = threading.Thread(target=one, args=(keeper, "select howdah.maintain_journal()"))
    with consumer.transaction():
        by_one(consumer)
        thread.start()
        wait_until_blocked(db, keeper)
    thread.join()
    assert column(db, IDS) == [number]
    weeks = "select count(*) from pg_inherits where inhparent = 'howdah.kept_messages'::regclass"
    assert one(db, weeks) == 1 + 8, "the default one, and all weeks but this"


def test_rows_without_an_end_stay_and_hold_back_only_themselves(db: Db, create: Create, clock: Clock) -> None:
    create(keep_bodies_ms=HOUR)
    one(db, "select howdah.maintain_journal()")
    send(db)
    by_one(db)
    send(db)
    one(
        db,
        "select howdah._keep(d.id, array(select b from howdah.browse('q') b), null, array[7],"
        " array[howdah.now()], array[howdah.now()])::text from howdah.destinations d where d.name = 'q'",
    )
    clock.advance(86400 * 30)
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.kept_messages") == 1
    assert rows(db, "select delivery_count, kept_until from howdah.browse_kept('q')") == [(7, None)]
    assert one(db, "select howdah.delete_kept('q')") == 1
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from pg_inherits where inhparent = 'howdah.kept_messages'::regclass") == 1 + 9


def test_a_dropped_queue_takes_what_it_kept_with_it(db: Db, create: Create) -> None:
    create(keep_bodies_ms=HOUR)
    create("other", keep_bodies_ms=HOUR)
    for queue in ("q", "other"):
        send(db, queue)
        assert receive(db, queue)
    one(db, "select howdah.drop_queue('q')")
    create(keep_bodies_ms=HOUR)
    assert column(db, IDS) == []
    assert one(db, "select count(*) from howdah.kept_messages") == 1


def test_what_a_receiver_keeps_after_the_drop_goes_with_the_queues_sequences(
    db: Db, create: Create, clock: Clock, connect: Connect
) -> None:
    create(keep_bodies_ms=HOUR * 24 * 365)
    send(db)
    receiver = connect()
    with receiver.transaction():
        by_one(receiver)
        one(db, "select howdah.drop_queue('q', force => true)")
    assert one(db, "select count(*) from howdah.kept_messages") == 1
    clock.advance(3601)
    one(db, "select howdah.maintain_dropped()")
    assert one(db, "select count(*) from howdah.kept_messages") == 0
