"""The leases of a consumer end with its session."""

from __future__ import annotations

import pytest
from leased_messages import send
from support import Clock, Connect, Db, column, one, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3}')""")


def test_the_death_of_a_consumer_that_nobody_sees_ends_neither_its_lease_nor_its_turn(
    db: Db, clock: Clock, connect: Connect
) -> None:
    one(db, """select howdah.alter_queue('q', '{"delivery_policy": "failover"}')""")
    send(db, "a", "b")
    doomed = connect()
    first = one(doomed, "select howdah.open_consumer('q')")
    second = one(db, "select howdah.open_consumer('q')")
    bodies = "select body from howdah.lease('q', 1, '10 minutes', consumer => %s)"
    assert column(doomed, bodies, (first,)) == ["a"]
    one(db, "select pg_terminate_backend(%s, 10000)", (doomed.info.backend_pid,))
    clock.advance(59)
    assert column(db, bodies, (second,)) == []
    clock.advance(2)
    assert column(db, bodies, (second,)) == ["b"], "silent for longer than its timeout"
    clock.advance(500)
    one(db, "select count(*) from howdah.renew_consumers(%s)", ([second],))
    clock.advance(41)
    assert column(db, bodies, (second,)) == ["a"], "at the end of the lease"


def test_the_leases_of_a_consumer_end_with_its_session_at_once_and_count(
    db: Db, connect: Connect, clock: Clock
) -> None:
    """The clock stands still: nothing waits for the end of a lease.

    Another consumer without a session of its own keeps what it has.
    """
    sent = send(db, "a", "b", "c", "d")
    doomed = connect()
    first, second = (
        one(doomed, "select howdah.open_consumer('q', own_session => true)"),
        one(db, "select howdah.open_consumer('q')"),
    )
    lease = (
        "select lease, message_id, delivery_count, redelivered from howdah.lease('q', 1, '10 minutes', consumer => %s)"
    )
    held = [doomed.execute(lease, (first,)).fetchone() for _ in range(2)]
    assert [row[1:] for row in held if row] == [(sent[0], 1, False), (sent[1], 1, False)]
    kept = db.execute(lease, (second,)).fetchone()
    one(db, "select pg_terminate_backend(%s, 10000)", (doomed.info.backend_pid,))
    again = db.execute(
        "select message_id, delivery_count, redelivered from howdah.receive('q', 9, consumer => %s)", (second,)
    )
    assert again.fetchall() == [(sent[0], 2, True), (sent[1], 2, True), (sent[3], 1, False)]
    incidents = db.execute("select error_class, attempt, outcome from howdah.incidents('q')").fetchall()
    assert incidents == [("LeaseExpired", 1, "returned")] * 2
    assert held[0]
    assert kept
    refused(db, "HD026", "select howdah.ack('q', %s)", (held[0][0],))
    assert one(db, "select howdah.ack('q', %s)", (kept[0],)) == 1


@pytest.mark.first_case
@pytest.mark.parametrize(
    "call", ["ack(%s, %s, %s)", "release(%s, %s, %s)", "extend(%s, %s, message_ids => %s)", "nack(%s, %s, %s)"]
)
def test_a_lease_that_ended_with_its_session_waits_for_who_saw_that_and_has_not_committed(
    db: Db, connect: Connect, clock: Clock, call: str
) -> None:
    (sent,) = send(db, "a")
    doomed, receiver = connect(), connect()
    first = one(doomed, "select howdah.open_consumer('q', own_session => true)")
    second = one(receiver, "select howdah.open_consumer('q')")
    (lease,) = column(doomed, "select lease from howdah.lease('q', 1, '1 hour', consumer => %s)", (first,))
    one(db, "select pg_terminate_backend(%s, 10000)", (doomed.info.backend_pid,))
    db.execute("set lock_timeout = '100 ms'")
    use = f"select howdah.{call}"
    with receiver.transaction():
        assert column(receiver, "select message_id from howdah.receive('q', consumer => %s)", (second,)) == [sent]
        refused(db, "55P03", use, ("q", lease, [sent]))
    refused(db, "HD026", use, ("q", lease, [sent]))


def test_maintenance_ends_the_leases_of_consumers_whose_sessions_ended_for_all_who_take_no_turns(
    db: Db, connect: Connect, clock: Clock
) -> None:
    send(db, "a")
    doomed = connect()
    consumer = one(doomed, "select howdah.open_consumer('q', own_session => true)")
    assert column(doomed, "select body from howdah.lease('q', 1, '1 hour', consumer => %s)", (consumer,)) == ["a"]
    one(db, "select pg_terminate_backend(%s, 10000)", (doomed.info.backend_pid,))
    assert column(db, "select body from howdah.receive('q')") == []
    assert one(db, "select howdah.maintain_consumers()") == 1
    assert column(db, "select body from howdah.receive('q')") == ["a"]


def test_what_is_delivered_again_to_a_consumer_comes_back_with_its_session_too(
    db: Db, connect: Connect, clock: Clock
) -> None:
    (sent,) = send(db, "a")
    doomed = connect()
    consumer = one(doomed, "select howdah.open_consumer('q', own_session => true)")
    lease = one(doomed, "select lease from howdah.lease('q', 1, '10 minutes', consumer => %s)", (consumer,))
    again = one(doomed, "select lease from howdah.redeliver('q', %s, %s, '7 days')", ([lease], [sent]))
    assert column(db, "select lease_id from howdah.consumer_leases") == [again]
    one(db, "select pg_terminate_backend(%s, 10000)", (doomed.info.backend_pid,))
    other = one(db, "select howdah.open_consumer('q')")
    rows = db.execute("select message_id, delivery_count from howdah.receive('q', 9, consumer => %s)", (other,))
    assert rows.fetchall() == [(sent, 3)]


def test_what_a_consumer_is_done_with_is_not_remembered_as_its_leases(db: Db, connect: Connect) -> None:
    send(db, *"abcdefgh")
    own = connect()
    consumer = one(own, "select howdah.open_consumer('q', own_session => true)")
    for _ in range(8):
        lease = one(own, "select lease from howdah.lease('q', consumer => %s)", (consumer,))
        assert one(own, "select howdah.ack('q', %s)", (lease,)) == 1
    assert column(db, "select lease_id from howdah.consumer_leases") == [lease]
    one(own, "select howdah.close_consumer(%s)", (consumer,))
    assert column(db, "select lease_id from howdah.consumer_leases") == []
