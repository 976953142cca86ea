"""A parked message waits for its time or for the operator."""

import pytest
from support import Clock, Db, deliver_and_fail, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
    one(db, "select howdah.create_queue('aside')")


def test_a_parked_message_waits_for_its_time_or_for_the_operator(db: Db, clock: Clock) -> None:
    ids = one(db, "select howdah.send_batch('q', array['a', 'b', 'c', 'd'])")
    assert one(db, "select howdah.park_messages('q', %s, delay => '1 h')", (ids[:1],)) == 1
    assert one(db, "select howdah.park_messages('q', %s, until => %s)", (ids[1:2], clock.now.replace(year=2100))) == 1
    assert one(db, "select howdah.park_messages('q', %s, reason => 'wait for a fix')", (ids[2:3],)) == 1
    assert [m.body for m in receive(db, n=9)] == ["d"]
    clock.advance(3600)
    assert [m.body for m in receive(db, n=9)] == ["a"]
    assert one(db, "select howdah.park_messages('q', %s, delay => '1 s')", (ids[1:2],)) == 1
    clock.advance(1)
    assert [m.body for m in receive(db, n=9)] == ["b"]
    clock.advance(86400 * 365 * 50)
    assert receive(db, n=9) == []
    assert one(db, "select parked_reason from howdah.poison_message(%s)", (ids[2],)) == "operator"
    assert one(db, "select howdah.retry('q', %s)", (ids[2:3],)) == 1
    assert [m.body for m in receive(db, n=9)] == ["c"]


@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
def test_a_released_message_is_received_in_its_old_place(db: Db, mode: str) -> None:
    ids = [one(db, "select howdah.send('q', %s, delivery_mode => %s)", (body, mode)) for body in "abcdef"]
    one(db, "select howdah.park_messages('q', %s)", (ids[1:3],))
    assert [m.body for m in receive(db, n=2)] == ["a", "d"]
    assert one(db, "select howdah.retry('q')") == 2
    assert [m.body for m in receive(db, n=9)] == ["b", "c", "e", "f"]
    assert one(db, "select howdah.retry('q')") == 0


def test_delayed_and_blocked_messages_are_released_at_once_and_go_on_counting(db: Db, clock: Clock) -> None:
    one(db, """select howdah.create_queue('b', '{"max_failed_deliveries": 1, "exception_mode": "none"}')""")
    blocked = one(db, "select howdah.send('b', 'blocked')")
    assert deliver_and_fail(db, "b") == (1, "blocked")
    delayed = one(db, "select howdah.send('b', 'delayed', delay => '1 h')")
    assert receive(db, "b") == []
    assert one(db, "select howdah.retry('b', %s)", ([blocked, delayed],)) == 2
    assert [(m.body, m.delivery_count) for m in receive(db, "b", n=9)] == [("blocked", 2), ("delayed", 1)]


def test_releasing_all_leaves_what_was_sent_with_a_delay(db: Db, clock: Clock) -> None:
    later = one(db, "select howdah.send('q', 'later', delay => '1 h')")
    aside = one(db, "select howdah.send('q', 'aside')")
    one(db, "select howdah.park_messages('q', %s)", ([aside],))
    assert one(db, "select howdah.retry('q')") == 1
    assert [m.message_id for m in receive(db, n=9)] == [aside]
    clock.advance(3600)
    assert [m.message_id for m in receive(db, n=9)] == [later]


def test_what_waits_after_a_failure_is_listed_with_what_was_sent_with_a_delay(db: Db, clock: Clock) -> None:
    one(db, """select howdah.create_queue('slow', '{"redelivery_delay_ms": 60000}')""")
    failed = one(db, "select howdah.send('slow', 'x')")
    one(db, "select howdah.record_failure('slow', %s)", (failed,))
    aside = one(db, "select howdah.send('slow', 'x')")
    one(db, "select howdah.park_messages('slow', array[%s]::bigint[], delay => interval '2 minutes')", (aside,))
    later = one(db, "select howdah.send('slow', 'x', delay => interval '3 minutes')")
    listed = "select message_id, reason from howdah.list_delayed('slow')"
    assert db.execute(listed).fetchall() == [(failed, "redelivery"), (aside, "operator"), (later, "delay")]
    refused(db, "HD013", "select howdah.cancel_delayed('slow', array[%s]::bigint[])", (failed,))
    clock.advance(61)
    assert db.execute(listed).fetchall() == [(aside, "operator"), (later, "delay")]
