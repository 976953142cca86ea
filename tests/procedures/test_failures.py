"""A message whose deliveries fail comes again, and moves to an exception destination at its limit."""

import pytest
from psycopg.types.json import Jsonb
from support import (
    SYSTEM,
    Clock,
    Connect,
    Db,
    column,
    deliver_and_fail,
    fail,
    one,
    receive,
)


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def send(db: Db, queue: str = "q", body: str = "x") -> int:
    number: int = one(db, "select howdah.send(%s, %s)", (queue, body))
    return number


@pytest.mark.behaviour("WAS-06")
def test_the_delivery_count_is_one_more_than_the_rejections(db: Db) -> None:
    send(db)
    assert [deliver_and_fail(db) for _ in range(2)] == [(1, "returned"), (2, "returned")]
    (third,) = receive(db)
    assert (third.delivery_count, third.redelivered) == (3, True)


@pytest.mark.behaviour("WAS-09")
@pytest.mark.behaviour("WAS-10")
@pytest.mark.behaviour("WAS-22")
@pytest.mark.parametrize("preset", [None, "howdah", "websphere"])
def test_by_default_a_message_is_delivered_five_times_and_then_lies_in_the_exception_destination(
    db: Db, preset: str | None
) -> None:
    if preset is not None:
        one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"preset": preset}),))
    sent = send(db)
    trace = []
    while receive(db, verb="browse"):
        trace.append(deliver_and_fail(db))
        if trace[-1][1] == "returned":
            assert [m.message_id for m in receive(db, verb="browse")] == [sent]
    assert trace == [(1, "returned"), (2, "returned"), (3, "returned"), (4, "returned"), (5, "moved")]
    assert receive(db, n=9) == []
    (dead,) = receive(db, SYSTEM, 9, "browse")
    assert (dead.message_id, dead.origin_queue, dead.body) == (sent, "q", "x")
    assert column(db, "select attempt from howdah.incidents('q') order by 1") == [1, 2, 3, 4, 5]
    assert column(db, "select outcome from howdah.incidents('q') order by attempt") == ["returned"] * 4 + ["moved"]


@pytest.mark.behaviour("WAS-20")
def test_each_queue_counts_to_its_own_limit(db: Db) -> None:
    for limit in (2, 7):
        one(db, "select howdah.create_queue(%s, %s)", (f"q{limit}", Jsonb({"max_failed_deliveries": limit})))
        send(db, f"q{limit}")
        count = 0
        while receive(db, f"q{limit}", verb="browse"):
            deliver_and_fail(db, f"q{limit}")
            count += 1
        assert count == limit


@pytest.mark.behaviour("WAS-12")
@pytest.mark.behaviour("WAS-21")
def test_a_moved_message_keeps_everything_and_says_where_it_came_from(db: Db, clock: Clock) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    one(
        db,
        "select howdah.send('q', %b, headers => '{\"a\": 1}', priority => 8, correlation_id => 'c', reply_to => 'r',"
        " message_type => 't', time_to_live => '1 hour')",
        (b"\0x",),
    )
    (before,) = receive(db, verb="browse")
    clock.advance(7)
    assert deliver_and_fail(db) == (1, "moved")
    (after,) = receive(db, SYSTEM)
    for name in [
        "message_id",
        "bytes",
        "headers",
        "priority",
        "correlation_id",
        "reply_to",
        "message_type",
        "sent_at",
        "content_type",
    ]:
        assert getattr(after, name) == getattr(before, name), name
    assert (after.origin_queue, after.dead_at, after.expires_at) == ("q", clock.now, None)
    assert after.dead_reason == "failed deliveries reached the limit"
    assert (after.delivery_count, after.redelivered, after.stage) == (1, False, 1)


def test_receive_itself_moves_a_message_at_its_limit_and_a_rollback_brings_it_back(db: Db, connect: Connect) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    sent = send(db)
    consumer = connect()
    with consumer.transaction(force_rollback=True):
        assert len(receive(consumer)) == 1
        assert fail(db, sent)[1:] == (1, "held")
    with db.transaction(force_rollback=True):
        assert receive(db) == []
        assert len(receive(db, SYSTEM)) == 1
    assert [m.message_id for m in receive(db, verb="browse")] == [sent]
    following = send(db)
    assert [m.message_id for m in receive(db)] == [following]
    assert [m.message_id for m in receive(db, SYSTEM)] == [sent]
    assert column(db, "select event from howdah.audit_journal where message_id = %s order by at", (sent,)) == [
        "moved",
        "consumed",
    ]


def test_a_lowered_limit_holds_for_messages_that_have_failed_already(db: Db) -> None:
    send(db)
    assert [deliver_and_fail(db)[1] for _ in range(3)] == ["returned"] * 3
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 2}')""")
    assert receive(db) == []
    assert len(receive(db, SYSTEM)) == 1


def test_a_limit_of_nought_is_none(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 0}')""")
    send(db)
    assert [deliver_and_fail(db) for _ in range(8)] == [(n, "returned") for n in range(1, 9)]


def test_a_named_exception_queue_gets_the_message_and_its_absence_means_the_systems(db: Db) -> None:
    options = Jsonb({"max_failed_deliveries": 1, "exception_queue": "dead"})
    one(db, "select howdah.alter_queue('q', %s)", (options,))
    sent = send(db)
    assert deliver_and_fail(db) == (1, "moved")
    assert [m.message_id for m in receive(db, SYSTEM)] == [sent]
    one(db, "select howdah.create_queue('dead')")
    sent = send(db)
    assert deliver_and_fail(db) == (1, "moved")
    assert [m.message_id for m in receive(db, "dead")] == [sent]


@pytest.mark.parametrize("wait", [0, 5000])
def test_without_exception_destination_a_message_past_its_limit_stays_and_is_retried(
    db: Db, clock: Clock, wait: int
) -> None:
    options = Jsonb({"max_failed_deliveries": 2, "exception_mode": "none", "blocked_retry_ms": wait})
    one(db, "select howdah.alter_queue('q', %s)", (options,))
    send(db)
    assert deliver_and_fail(db) == (1, "returned")
    for attempt in (2, 3, 4):
        assert deliver_and_fail(db) == (attempt, "blocked")
        if wait:
            assert receive(db) == []
            clock.advance(wait / 1000)
    assert len(receive(db)) == 1


def test_the_exception_destination_of_the_engine_never_moves_its_messages_on(db: Db, clock: Clock) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    send(db)
    deliver_and_fail(db)
    outcomes = [deliver_and_fail(db, SYSTEM)[1] for _ in range(4)]
    assert outcomes == ["returned"] * 4
    assert deliver_and_fail(db, SYSTEM) == (5, "blocked")
    clock.advance(5)
    assert len(receive(db, SYSTEM)) == 1
