"""A receive disposes of a due message that expired, was lost or failed too often, and gives the next one."""

from __future__ import annotations

import pytest
from due_support import send, take
from support import Clock, Connect, Db, column, fail, one, receive, wait_until


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


@pytest.mark.parametrize("n", [1, 10])
def test_a_due_message_that_expired_is_disposed_of_and_the_next_one_given(db: Db, clock: Clock, n: int) -> None:
    old = send(db, time_to_live="2 min")
    fresh = send(db)
    clock.advance(180)
    assert take(db, n) == fresh
    events = db.execute("select event, message_ids from howdah.journal order by event").fetchall()
    assert events == [("consumed", fresh), ("expired", old)]
    assert one(db, "select count(*) from howdah.parked") == 0


@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
@pytest.mark.parametrize("n", [1, 10])
def test_due_messages_that_expired_are_moved_in_the_order_of_their_times(
    db: Db, clock: Clock, n: int, mode: str
) -> None:
    one(db, "select howdah.create_queue('bad')")
    db.execute(
        """select howdah.alter_queue('q', '{"process_expired": true, "process_non_persistent": true,
        "exception_queue": "bad"}')"""
    )
    last, middle, first = (
        send(db, 1, delay, time_to_live="2 min", delivery_mode=mode)[0] for delay in ("30 s", "20 s", "10 s")
    )
    clock.advance(180)
    assert take(db, n) == []
    assert column(db, "select message_id from howdah.receive('bad', 10)") == [first, middle, last]


@pytest.mark.parametrize("level", ["BEST_EFFORT_NONPERSISTENT", "EXPRESS_NONPERSISTENT"])
@pytest.mark.parametrize("n", [1, 10])
def test_a_due_message_whose_sender_has_gone_is_not_given_where_it_goes_with_its_sender(
    db: Db, connect: Connect, clock: Clock, n: int, level: str
) -> None:
    db.execute("""select howdah.alter_queue('q', '{"discard_with_sender": true}')""")
    client = connect()
    send(client, reliability=level)
    pid = client.info.backend_pid
    one(db, "select pg_terminate_backend(%s)", (pid,))
    wait_until(lambda: one(db, "select count(*) from pg_stat_activity where pid = %s", (pid,)) == 0)
    clock.advance(61)
    assert take(db, n) == []
    assert one(db, "select count(*) from howdah.parked") == 0


def test_a_non_persistent_message_lost_in_a_restart_is_swept_by_who_meets_it_when_due(db: Db, clock: Clock) -> None:
    (lost,) = send(db, delivery_mode="non-persistent")
    delayed = send(db)
    ready = column(db, "select howdah.send('q', 'y') from generate_series(1, 5)")
    db.execute("update howdah.parked set boot = boot - interval '1 day' where boot is not null")
    db.execute("update howdah.engine set boot = boot - interval '1 day'")
    clock.advance(61)
    assert [take(db) for _ in range(6)] == [delayed, *([m] for m in ready)]
    assert one(db, "select count(*) from howdah.parked") == 0
    assert column(db, "select message_ids from howdah.journal where event = 'lost'") == [[lost]]


@pytest.mark.parametrize("n", [1, 10])
def test_the_failure_of_a_lease_that_ran_out_is_recorded_where_nothing_failed_before(
    db: Db, clock: Clock, n: int
) -> None:
    ((leased,),) = db.execute("select howdah.send('q', 'x')").fetchall()
    assert column(db, "select message_id from howdah.lease('q', 1, '1 min')") == [leased]
    (delayed,) = send(db, 1, "30 s")
    clock.advance(120)
    got = [(m.message_id, m.delivery_count, m.redelivered) for _ in range(0, 2, n) for m in receive(db, n=n)]
    assert sorted(got) == sorted([(leased, 2, True), (delayed, 1, False)])
    assert column(db, "select message_id from howdah.poison_details") == [leased]


@pytest.mark.parametrize("n", [1, 10])
def test_a_message_whose_redelivery_is_due_counts_its_failures_and_goes_at_its_limit(
    db: Db, clock: Clock, n: int
) -> None:
    one(db, "select howdah.create_queue('bad')")
    db.execute(
        """select howdah.alter_queue('q', '{"max_failed_deliveries": 3, "exception_queue": "bad",
        "redelivery_delay_ms": 60000}')"""
    )
    (number,) = column(db, "select howdah.send('q', 'x')")
    other = send(db, 1, "1 hour")
    seen = []
    for _ in range(3):
        with db.transaction(force_rollback=True):
            message = receive(db, n=n)[0]
        assert message.message_id == number
        seen.append((message.delivery_count, message.redelivered))
        fail(db, number, priority=message.priority, position=message.position)
        assert number not in take_back(db, n)
        clock.advance(61)
    clock.advance(3600)
    assert seen == [(1, False), (2, True), (3, True)]
    assert take(db, n) == other
    assert take(db, n) == []
    assert column(db, "select message_id from howdah.receive('bad')") == [number]


def take_back(db: Db, n: int) -> list[int]:
    """What a receive would give now."""
    with db.transaction(force_rollback=True):
        return take(db, n)
