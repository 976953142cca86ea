"""A queue or topic that ended comes again with its number, and no late message is lost."""

from __future__ import annotations

import pytest
from autocreate_support import NAMES, ON, alter, reap, unused_for
from support import Clock, Connect, Db, column, one


@pytest.fixture
def on(db: Db) -> Db:
    """The database, whose queues and topics create themselves."""
    alter(db, **ON)
    return db


def test_a_name_that_comes_and_goes_uses_one_number_and_no_message_number_twice(on: Db, clock: Clock) -> None:
    number = "select id from howdah.destinations where name = 'q' and dropped_at is null"
    first = one(on, "select howdah.send('q', 'a')")
    was = one(on, number)
    for hours in (0, 2):
        column(on, "select howdah.receive('q')")
        assert unused_for(clock, on) == 1
        clock.advance(hours * 3600)
        one(on, "select howdah.maintain_dropped()")
        again = one(on, "select howdah.send('q', 'b')")
        assert again > first
        assert one(on, number) == was
        first = again
    assert one(on, "select count(*) from pg_class where relname = 'positions_' || %s", (was,)) == 1
    assert column(on, "select body from howdah.receive('q')") == ["b"]
    column(on, "select howdah.receive('q')")
    assert unused_for(clock, on) == 1
    alter(on, autocreate_options={})
    one(on, "select howdah.send('q', 'c')")
    assert one(on, number) != was, "its options would be others"


def test_a_topic_that_comes_again_serves_the_wildcards_that_came_meanwhile(on: Db, clock: Clock) -> None:
    one(on, "select howdah.send('topic://A.b', 'x')")
    assert unused_for(clock, on) == 1
    name = one(on, "select howdah.subscribe('A.*', 's')")
    one(on, "select howdah.send('topic://A.b', 'y')")
    assert column(on, f"select body from howdah.receive('{name}', 9)") == ["y"]


def test_a_plain_name_that_was_a_topic_becomes_a_topic_again_for_its_publisher(on: Db, clock: Clock) -> None:
    name = one(on, "select howdah.subscribe('news', 's')")
    one(on, "select howdah.send('news', 'x')")
    one(on, f"select howdah.unsubscribe('{name}')")
    assert unused_for(clock, on) == 1
    one(on, "select howdah.send('news', 'y')")
    assert one(on, "select kind from howdah.destinations where name = 'news' and dropped_at is null") == "topic"
    assert one(on, "select howdah.subscribe('news', 's')") == name
    one(on, f"select howdah.unsubscribe('{name}')")
    clock.advance(10)
    assert unused_for(clock, on) == 1
    assert column(on, "select howdah.receive('news')") == [], "a receiver means a queue"


def test_a_sender_that_comes_while_the_end_is_not_committed_waits_for_nobody_and_loses_nothing(
    on: Db, connect: Connect, clock: Clock
) -> None:
    maintenance, sender = connect(), connect()
    assert column(on, "select howdah.receive('q')") == []
    reap(on)
    clock.advance(121)
    maintenance.execute("begin")
    assert reap(maintenance) == 1
    sent = one(sender, "select howdah.send('q', 'x')")
    maintenance.execute("commit")
    assert column(on, NAMES) == []
    assert column(on, "select message_id from howdah.receive('q')") == [sent], "the next use brings it back"


def test_an_old_snapshots_send_after_the_end_comes_back_with_maintenance(
    on: Db, connect: Connect, clock: Clock
) -> None:
    old = connect()
    assert column(on, "select howdah.receive('q')") == []
    reap(on)
    clock.advance(121)
    old.execute("begin isolation level repeatable read")
    one(old, "select count(*) from howdah.destinations")
    assert reap(on) == 1
    sent = one(old, "select howdah.send('q', 'x')")
    old.execute("commit")
    assert column(on, NAMES) == []
    one(on, "select howdah.maintain_dropped()")
    assert column(on, NAMES) == ["q"]
    assert column(on, "select message_id from howdah.receive('q')") == [sent]


def test_what_comes_again_is_as_old_as_its_journal(on: Db, clock: Clock) -> None:
    """The audit accuses a queue of whatever was journaled before the queue was created."""
    created = "select created_at from howdah.list_queues() where queue = 'q'"
    one(on, "select howdah.send('q', 'x')")
    first = one(on, created)
    assert len(column(on, "select message_id from howdah.receive('q')")) == 1
    reap(on)
    clock.advance(121)
    assert reap(on) == 1
    one(on, "select howdah.send('q', 'x')")
    assert one(on, created) == first
    assert one(
        on, "select created_at <= all (select at from howdah.journal) from howdah.audit_destinations where queue = 'q'"
    )


def test_what_an_administrator_dropped_stays_dropped_until_it_is_used_again(on: Db, connect: Connect) -> None:
    sender = connect()
    one(on, "select howdah.send('q', 'x')")
    sender.execute("begin")
    one(sender, "select howdah.send('q', 'late')")
    one(on, "select howdah.drop_queue('q', force => true)")
    sender.execute("commit")
    one(on, "select howdah.maintain_dropped()")
    assert column(on, NAMES) == []
    one(on, "select howdah.send('q', 'y')")
    assert column(on, "select body from howdah.receive('q', 9)") == ["y"]


def test_another_administrators_queue_of_the_name_is_no_reason_to_lose_a_late_message(
    on: Db, connect: Connect, clock: Clock
) -> None:
    old = connect()
    assert column(on, "select howdah.receive('q')") == []
    reap(on)
    clock.advance(121)
    old.execute("begin isolation level repeatable read")
    one(old, "select count(*) from howdah.destinations")
    assert reap(on) == 1
    one(on, "select howdah.create_queue('q')")
    sent = one(old, "select howdah.send('q', 'x')")
    old.execute("commit")
    assert one(on, "select howdah.maintain_dropped()") == 1
    dead = column(on, "select message_id from howdah.receive('_SYSTEM.Exception.Destination.howdah', 9)")
    assert dead == [sent]
