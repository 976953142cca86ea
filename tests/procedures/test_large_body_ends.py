"""A large body ends with its message, however that ends."""

from __future__ import annotations

import pytest
from large_bodies_support import TEXT, apart, send
from policy_support import Create
from support import Clock, Db, column, fail, one, receive


@pytest.fixture(autouse=True)
def queue(create: Create) -> None:
    create(max_failed_deliveries=2)


def consume_locked(db: Db, numbers: list[int]) -> None:
    with db.transaction():
        held = receive(db, n=9, verb="receive_locked")
        assert {message.message_id for message in held} == set(numbers)
        columns = zip(*((m.message_id, m.priority, m.position) for m in held), strict=True)
        db.execute("select howdah.consume_locked('q', %s, %s, %s)", tuple(map(list, columns)))


def acknowledge(db: Db, numbers: list[int]) -> None:
    db.execute("select howdah.lease('q', 9)").fetchall()
    lease = one(db, "select lease_id from howdah.leases")
    assert one(db, "select howdah.ack('q', %s, %s)", (lease, numbers[:1])) == 1
    assert apart(db) == len(numbers) - 1
    assert one(db, "select howdah.ack('q', %s)", (lease,)) == len(numbers) - 1


def acknowledge_late(db: Db, numbers: list[int]) -> None:
    db.execute("select howdah.lease('q', 9)").fetchall()
    lease = one(db, "select lease_id from howdah.leases")
    one(db, "select howdah.extend('q', %s, interval '1 hour', %s)", (lease, numbers[:1]))
    assert one(db, "select howdah.ack('q', %s)", (lease,)) == len(numbers)


def evict(db: Db, numbers: list[int]) -> None:
    one(
        db,
        """select howdah.alter_queue('q', '{"limit_behaviour": "remove_oldest","""
        """ "message_limit": 1, "at_limit": "discard"}')""",
    )
    one(db, "select howdah.send('q', 'small')")
    assert [message.body for message in receive(db)] == ["small"]


def fail_and_discard(db: Db, numbers: list[int]) -> None:
    one(db, """select howdah.alter_queue('q', '{"at_limit": "discard"}')""")
    for number in numbers:
        assert fail(db, number, reject=True)[2] == "discarded"


ENDS = {
    "received one by one": lambda db, ids: [receive(db) for _ in ids],
    "received at once": lambda db, ids: receive(db, n=9),
    "held and consumed": consume_locked,
    "leased and acknowledged": acknowledge,
    "acknowledged from parked": acknowledge_late,
    "received by number": lambda db, ids: [one(db, "select howdah.receive_message('q', %s)", (i,)) for i in ids],
    "discarded": lambda db, ids: one(db, "select howdah.discard('q', %s)", (ids,)),
    "purged": lambda db, ids: one(db, "select howdah.purge_queue('q')"),
    "dropped": lambda db, ids: one(db, "select howdah.drop_queue('q', true)"),
    "evicted": evict,
    "disposed of": fail_and_discard,
}


@pytest.mark.parametrize("end", ENDS)
def test_a_large_body_ends_with_its_message(db: Db, end: str) -> None:
    numbers = [send(db) for _ in range(3)]
    assert apart(db) == 3
    with db.transaction(force_rollback=True):
        ENDS[end](db, numbers)
        assert apart(db) == 0
    assert apart(db) == 3, "a rollback gives it back"
    ENDS[end](db, numbers)
    assert apart(db) == 0


def test_an_attempt_that_succeeds_takes_the_body(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"backout_count": "hardened"}')""")
    send(db)
    attempt = one(db, "select attempt from howdah.begin_attempts('q')")
    assert column(db, "select body from howdah.receive_attempt('q', %s)", (attempt,)) == [TEXT]
    assert apart(db) == 0


def test_an_expired_message_takes_its_body_along_however_it_is_met(db: Db, clock: Clock) -> None:
    for reclaim in (False, True):
        send(db, time_to_live="1 s")
        send(db, time_to_live="1 s", delay="0.5 s")
        clock.advance(2)
        if reclaim:
            assert one(db, "select howdah.maintain_expired()") == 2
        assert receive(db, n=9) == []
        assert apart(db) == 0


def test_a_cancelled_delayed_message_takes_its_body_along(db: Db) -> None:
    number = send(db, delay="1 hour")
    assert column(db, "select bytes from howdah.list_delayed('q')") == [len(TEXT.encode())]
    assert one(db, "select howdah.cancel_delayed('q', %s)", ([number],)) == 1
    assert apart(db) == 0
