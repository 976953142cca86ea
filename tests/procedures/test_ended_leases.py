"""How messages come back when their lease has run out: to whom, in which order, and how many at once."""

from __future__ import annotations

import pytest
from lease_tables_support import lease, lease_apart, lying, send
from support import Clock, Connect, Db, column, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3}')""")


def test_what_comes_back_comes_in_its_old_order_before_what_was_sent_later(db: Db, clock: Clock) -> None:
    sent = send(db, "a", "b", "c", "d")
    lease(db, 3, seconds=10)
    clock.advance(11)
    assert [m.message_id for m in receive(db, n=9)] == sent
    assert lying(db) == (0, 0, 0)


def test_receivers_share_the_messages_of_a_lease_that_ran_out(db: Db, clock: Clock, connect: Connect) -> None:
    sent = send(db, "a", "b")
    lease(db, 2, seconds=10)
    clock.advance(11)
    other = connect()
    with other.transaction(force_rollback=True):
        assert [m.message_id for m in receive(other)] == sent[:1]
        assert [m.message_id for m in receive(db)] == sent[1:], "the first one's transaction holds up nobody"
    assert [(m.message_id, m.delivery_count) for m in receive(db, n=9)] == [(sent[0], 2)]
    assert lying(db) == (0, 0, 0)


def test_who_takes_one_message_of_a_lease_that_ran_out_holds_up_nobody_who_wants_another(
    db: Db, clock: Clock, connect: Connect
) -> None:
    sent = send(db, "a", "b", "c")
    lease(db, 3)
    clock.advance(31)
    other = connect()
    with other.transaction():
        assert column(other, "select message_id from howdah.receive_message('q', %s)", (sent[1],)) == [sent[1]]
        assert [m.message_id for m in receive(db, "q", n=9)] == [sent[0], sent[2]]


def test_a_lease_that_ran_out_is_acknowledged_or_extended_as_far_as_nobody_else_has_it(
    db: Db, clock: Clock, connect: Connect
) -> None:
    sent = send(db, "a", "b", "c")
    number, _ = lease(db, 3, seconds=10)
    clock.advance(11)
    other = connect()
    with other.transaction():
        assert [m.message_id for m in receive(other)] == sent[:1]
        refused(db, "HD026", "select howdah.extend('q', %s, '10 seconds', %s)", (number, sent))
        until = one(db, "select howdah.extend('q', %s, '10 seconds')", (number,))
        assert [m.message_id for m in receive(db, n=9)] == []
    assert db.execute("select lease, messages, leased_until from howdah.list_leases('q')").fetchall() == [
        (number, 2, until)
    ]
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 2
    assert lying(db) == (0, 0, 0)


def test_a_part_of_a_lease_is_extended_alone(db: Db, clock: Clock) -> None:
    sent = send(db, "a", "b", "c")
    number, _ = lease(db, 3, seconds=10)
    one(db, "select howdah.extend('q', %s, '60 seconds', %s)", (number, sent[:1]))
    clock.advance(11)
    assert [m.message_id for m in receive(db, n=9)] == sent[1:]
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 1


@pytest.mark.parametrize("verb", ["receive", "receive_message"])
def test_who_takes_one_message_locks_no_other_leases_that_ran_out(
    db: Db, clock: Clock, connect: Connect, verb: str
) -> None:
    for _ in send(db, *(str(n) for n in range(20))):
        lease_apart(db, 1, seconds=10)
    last = one(db, "select howdah.send('q', 'last', delay => '11 seconds')")
    clock.advance(12)
    other = connect()
    with db.transaction():
        if verb == "receive":
            assert len(receive(db)) == 1
        else:
            assert column(db, "select message_id from howdah.receive_message('q', %s)", (last,)) == [last]
        free = column(other, "select lease_id from howdah.leases for update skip locked")
        assert len(free) == (19 if verb == "receive" else 20)


def test_a_leased_message_is_looked_up_when_its_lease_has_ended_and_not_before(db: Db, clock: Clock) -> None:
    sent = [one(db, "select howdah.send('q', 'a', correlation_id => %s)", (key,)) for key in "abc"]
    number, _ = lease(db, 3, seconds=10)
    by_number = "select message_id from howdah.receive_message('q', %s)"
    by_correlation = "select message_id from howdah.receive_correlated('q', %s)"
    assert column(db, by_number, (sent[0],)) == column(db, by_correlation, ("b",)) == []
    clock.advance(11)
    assert column(db, by_number, (sent[0],)) == sent[:1]
    assert column(db, by_correlation, ("b",)) == sent[1:2]
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 1
    assert column(db, "select error_class from howdah.incidents('q')") == ["LeaseExpired"] * 2


def test_the_scheduler_learns_when_the_next_lease_ends_and_wakes_who_waits(
    db: Db, clock: Clock, connect: Connect
) -> None:
    send(db, "a", "b")
    lease(db, seconds=20)
    lease(db, seconds=10)
    listening = connect()
    listening.execute("listen howdah")
    payload = one(db, "select payload from howdah.wait('q')")
    assert db.execute("select woken, next_in from howdah.wake_due(howdah.now())").fetchall() == [(0, 10.0)]
    since = one(db, "select howdah.now()")
    clock.advance(10)
    assert db.execute("select woken from howdah.wake_due(%s)", (since,)).fetchall() == [(1,)]
    assert [n.payload for n in listening.notifies(timeout=20, stop_after=1)] == [payload]


def test_expired_messages_are_reclaimed_when_their_lease_has_ended_and_not_before(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send('q', 'a', time_to_live => '5 seconds')")
    (other,) = send(db, "b")
    number, _ = lease(db, 2, seconds=10)
    clock.advance(6)
    assert one(db, "select howdah.maintain_expired()") == 0
    clock.advance(6)
    assert one(db, "select howdah.maintain_expired()") == 1
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 1
    assert column(db, "select i from howdah.journal j, unnest(j.message_ids) i where j.event = 'consumed'") == [other]


def test_a_queue_of_strict_order_stands_still_for_what_was_leased_before_it_was_one(db: Db, clock: Clock) -> None:
    sent = send(db, "a", "b")
    lease(db, seconds=10)
    one(db, """select howdah.alter_queue('q', '{"strict_order": true}')""")
    assert receive(db) == []
    clock.advance(11)
    assert [m.message_id for m in receive(db)] == sent[:1]


def test_a_selective_receive_lays_a_bounded_number_of_ended_leases_aside_and_the_next_goes_on(
    db: Db, clock: Clock
) -> None:
    with db.transaction():
        for _ in range(3):
            one(db, "select cardinality(howdah.send_batch('q', array(select 'x' from generate_series(1, 1000))))")
            lease_apart(db, 1000, seconds=10)
    one(db, """select howdah.send('q', 'wanted', headers => '{"a": 1}')""")
    lease_apart(db, 1, seconds=11)
    clock.advance(20)
    parked = []
    for _ in range(9):
        got = column(db, "select body from howdah.receive('q', 1, selector => 'a = 1')")
        parked.append(lying(db)[1])
        if got:
            break
    assert got == ["wanted"]
    assert parked == [2002, 3000], "a receive that has found nothing looks twice"
    assert lying(db)[0] == 0


@pytest.mark.first_case
@pytest.mark.parametrize("verb", ["evict", "operator", "retry", "maintenance"])
def test_others_than_receives_take_no_more_of_ended_leases_than_they_want(db: Db, clock: Clock, verb: str) -> None:
    one(db, "select cardinality(howdah.send_batch('q', array(select 'x' from generate_series(1, 600))))")
    _, ids = lease(db, 600, seconds=10)
    clock.advance(20)
    if verb == "evict":
        one(db, """select howdah.alter_queue('q', '{"message_limit": 600, "limit_behaviour": "remove_oldest"}')""")
        send(db, "new")
        assert 450 < lying(db)[0] < 600
    elif verb == "operator":
        assert one(db, "select howdah.discard('q', %s)", (ids[:3],)) == 3
        assert lying(db) == (597, 0, 1)
    elif verb == "retry":
        assert one(db, "select howdah.retry('q', %s)", (ids[:3],)) == 3
        assert one(db, "select howdah.retry('q')") == 0
        assert lying(db) == (597, 0, 1)
    else:
        one(db, "select howdah.maintain_expired(null, 100)")
        assert lying(db)[:2] == (500, 100)
    assert len(receive(db, n=1000)) >= 590
