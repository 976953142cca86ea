"""A recorded delay holds from then on, also for who receives between a failure's rollback and its settling."""

from typing import Any

import psycopg
import pytest
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, one, receive

RECORD = "select outcome from howdah.record_failures(%s, %s, in_hand => true)"
SETTLE = "select outcome from howdah.settle_failures(%s, %s, %s, %s)"

RECEIVES = {
    "receive": "select message_id from howdah.receive('q')",
    "receive several": "select message_id from howdah.receive('q', 5)",
    "receive by selector": "select message_id from howdah.receive('q', 1, selector => 'true')",
    "receive_locked": "select message_id from howdah.receive_locked('q', 2)",
    "lease": "select message_id from howdah.lease('q')",
    "lease several": "select message_id from howdah.lease('q', 3)",
    "receive_message": (
        "select message_id from howdah.receive_message('q', (select max(message_id) from howdah.poison_details))"
    ),
    "receive_correlated": "select message_id from howdah.receive_correlated('q', 'c')",
}


def fail_in_hand(db: Db, connect: Connect, name: str = "q", **failure: object) -> int:
    """Receive a message, record its failure while it is in hand, and roll back. Nothing is settled yet."""
    receiver = connect()
    with receiver.transaction(force_rollback=True):
        (message,) = receive(receiver, name)
        told = Jsonb([{"message_id": message.message_id, "stage": message.stage, **failure}])
        assert column(db, RECORD, (name, told)) == ["delayed"]
    return message.message_id


def settle(db: Db, number: int, name: str = "q", priority: int = 4) -> str:
    return str(one(db, SETTLE, (name, [number], [priority], [number // 1_000_000])))


@pytest.mark.first_case
@pytest.mark.parametrize("way", RECEIVES)
@pytest.mark.parametrize("failure", [{}, {"delay_ms": 5000}], ids=["queue", "own"])
def test_no_receive_gets_a_message_between_the_rollback_and_its_settling_before_its_delay_is_over(
    db: Db, connect: Connect, clock: Clock, create: Create, way: str, failure: dict[str, Any]
) -> None:
    create(redelivery_delay_ms=0 if failure else 5000, max_failed_deliveries=3)
    sent = one(db, "select howdah.send('q', 'x', correlation_id => 'c')")
    assert fail_in_hand(db, connect, **failure) == sent
    other = connect()
    assert column(other, RECEIVES[way]) == []
    clock.advance(4.999)
    assert column(other, RECEIVES[way]) == []
    clock.advance(0.001)
    assert column(other, RECEIVES[way]) == [sent]


@pytest.mark.parametrize("met", [False, True])
def test_settling_late_leaves_the_moment_that_was_recorded(
    db: Db, connect: Connect, clock: Clock, create: Create, met: bool
) -> None:
    create(redelivery_delay_ms=5000, use_collision_avoidance=True)
    sent = one(db, "select howdah.send('q', 'x')")
    fail_in_hand(db, connect)
    due = one(db, "select due_at from howdah.poison_details")
    clock.advance(2)
    if met:
        assert receive(db) == []
    assert settle(db, sent) == "delayed"
    assert column(db, "select due_at from howdah.parked") == [due]


def test_a_receive_that_meets_a_waiting_message_goes_on_to_the_next_one(
    db: Db, connect: Connect, clock: Clock, create: Create
) -> None:
    create(redelivery_delay_ms=5000)
    one(db, "select howdah.send('q', 'x')")
    fail_in_hand(db, connect)
    following = [one(db, "select howdah.send('q', 'y')") for _ in range(3)]
    assert [m.message_id for m in receive(db, "q", 3)] == following


def test_a_rollback_of_who_met_a_waiting_message_changes_nothing(
    db: Db, connect: Connect, clock: Clock, create: Create
) -> None:
    create(redelivery_delay_ms=5000)
    sent = one(db, "select howdah.send('q', 'x')")
    fail_in_hand(db, connect)
    other = connect()
    with other.transaction(force_rollback=True):
        assert receive(other) == []
    assert receive(db) == []
    clock.advance(5)
    assert [m.message_id for m in receive(db)] == [sent]


def test_a_message_at_its_limit_is_disposed_of_whatever_delay_was_asked_for_before(
    db: Db, connect: Connect, clock: Clock, create: Create
) -> None:
    create(redelivery_delay_ms=5000, max_failed_deliveries=2)
    sent = one(db, "select howdah.send('q', 'x')")
    fail_in_hand(db, connect)
    assert column(db, RECORD, ("q", Jsonb([{"message_id": sent}]))) == ["moved"]
    assert receive(db) == []
    assert one(db, "select count(*) from howdah.parked") == 0
    assert one(db, "select dead_reason from howdah.msgs") is not None


def test_what_an_operator_retries_is_received_at_once_and_waits_again_after_its_next_failure(
    db: Db, connect: Connect, clock: Clock, create: Create
) -> None:
    create(redelivery_delay_ms=5000)
    sent = one(db, "select howdah.send('q', 'x')")
    fail_in_hand(db, connect)
    assert settle(db, sent) == "delayed"
    assert one(db, "select howdah.retry('q')") == 1
    fail_in_hand(db, connect)
    assert receive(db) == []
    assert one(db, "select howdah.retry('q', %s)", ([sent],)) == 1
    assert [m.message_id for m in receive(db)] == [sent]


def test_what_a_holder_gives_back_waits_for_the_delay_of_a_failure_recorded_meanwhile(
    db: Db, connect: Connect, clock: Clock, create: Create
) -> None:
    """A supervisor that is late: another session has the message already, and goes."""
    create(redelivery_delay_ms=5000)
    sent = one(db, "select howdah.send('q', 'x')")
    holder = connect()
    with holder.transaction(force_rollback=True):
        receive(holder)
        assert one(db, "select outcome from howdah.record_failure('q', %s)", (sent,)) == "held"
    assert receive(db) == []
    clock.advance(5)
    assert [m.message_id for m in receive(db)] == [sent]


@pytest.mark.parametrize("options", [{"strict_order": True}, {"message_groups": "transaction"}], ids=str)
def test_queues_that_are_walked_honour_a_recorded_delay(
    db: Db, connect: Connect, clock: Clock, create: Create, options: dict[str, Any]
) -> None:
    create(redelivery_delay_ms=5000, **options)
    sent = one(db, "select howdah.send('q', 'x', headers => '{\"JMSXGroupID\": \"g\"}')")
    fail_in_hand(db, connect)
    assert receive(db) == []
    clock.advance(5)
    assert [m.message_id for m in receive(db)] == [sent]


@pytest.mark.first_case
@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
@pytest.mark.parametrize("groups", ["transaction", "sticky"])
def test_a_failure_recorded_after_a_walk_looked_holds_up_what_the_walk_took_of_its_group(
    db: Db, connect: Connect, clock: Clock, create: Create, groups: str, mode: str
) -> None:
    """The moment between is played by a walk that does not look for recorded delays."""
    create(redelivery_delay_ms=5000, message_groups=groups)
    consumer = one(db, "select howdah.open_consumer('q')") if groups == "sticky" else None
    send = "select howdah.send('q', %s, headers => jsonb_build_object('JMSXGroupID', %s::text), delivery_mode => %s)"
    sent = [one(db, send, (body, body[0], mode)) for body in ("a1", "b1", "a2", "b2", "a3")]
    holder = connect()
    with holder.transaction(force_rollback=True):
        take = "select body from howdah.receive('q', %s, consumer => %s)"
        assert column(holder, take, (1, consumer)) == ["a1"]
        assert one(db, "select outcome from howdah.record_failure('q', %s)", (sent[0],)) == "held"
    db.execute(
        "create or replace function howdah._without_waiting(p_lane howdah.lanes, p_keys bigint[], p_now timestamptz)"
        " returns bigint[] language sql as 'select p_keys'"
    )
    with db.transaction(force_rollback=True):
        assert column(db, take, (10, consumer)) == ["b1", "b2"]
    assert column(db, take, (10, consumer)) == ["b1", "b2"]
    assert column(db, take, (10, consumer)) == []
    clock.advance(5)
    assert [body for _ in range(3) for body in column(db, take, (1, consumer))] == ["a1", "a2", "a3"]


def test_a_non_persistent_message_waits_too(db: Db, connect: Connect, clock: Clock, create: Create) -> None:
    create(redelivery_delay_ms=5000)
    sent = one(db, "select howdah.send('q', 'x', delivery_mode => 'non-persistent')")
    fail_in_hand(db, connect)
    assert receive(db) == []
    clock.advance(5)
    assert [m.message_id for m in receive(db)] == [sent]


@pytest.mark.parametrize("count_by", ["conversation", "group"])
def test_a_queue_that_counts_by_more_has_the_failed_message_alone_wait(
    db: Db, connect: Connect, clock: Clock, create: Create, count_by: str
) -> None:
    create(redelivery_delay_ms=5000, count_by=count_by)
    send = (
        "select howdah.send('q', 'x', headers => '{\"JMSXGroupID\": \"g\"}',"
        " conversation_id => '11111111-1111-1111-1111-111111111111')"
    )
    failed, kin = one(db, send), one(db, send)
    assert fail_in_hand(db, connect) == failed
    assert [m.message_id for m in receive(db, "q", 5)] == [kin]
    clock.advance(5)
    assert [m.message_id for m in receive(db)] == [failed]


@pytest.mark.first_case
@pytest.mark.parametrize("shared", [False, True])
def test_a_subscription_honours_a_recorded_delay(db: Db, connect: Connect, clock: Clock, shared: bool) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's', shared => %s)", (shared,))
    one(db, "select howdah.alter_queue('t::s', '{\"redelivery_delay_ms\": 5000}')")
    first = one(db, "select howdah.send('t', 'x')")
    assert fail_in_hand(db, connect, "t::s") == first
    second = one(db, "select howdah.send('t', 'y')")
    assert [m.message_id for m in receive(db, "t::s", 5)] == [second]
    clock.advance(5)
    assert [m.message_id for m in receive(db, "t::s", 5)] == [first]


def test_no_attempt_at_a_hardened_queue_is_begun_or_taken_before_its_delay_is_over(
    db: Db, connect: Connect, clock: Clock, create: Create
) -> None:
    create(redelivery_delay_ms=5000, backout_count="hardened", max_failed_deliveries=4)
    sent = one(db, "select howdah.send('q', 'x')")
    begin = "select attempt from howdah.begin_attempts('q')"
    take = "select message_id from howdah.receive_attempt('q', %s)"
    first, second = connect(), connect()
    failing = one(first, begin)
    clock.advance(2)  # others may begin an attempt after a second
    waiting = one(second, begin)
    with first.transaction(force_rollback=True):
        assert column(first, take, (failing,)) == [sent]
        told = Jsonb([{"message_id": sent, "failure_key": str(failing)}])
        assert column(db, RECORD, ("q", told)) == ["delayed"]
    assert column(second, take, (waiting,)) == []
    assert column(second, begin) == []
    clock.advance(5)
    again: psycopg.Connection = connect()
    assert column(again, take, (one(again, begin),)) == [sent]


@pytest.mark.first_case
@pytest.mark.parametrize("number", [1, 5])
@pytest.mark.parametrize(
    "options",
    [{"strict_order": True}, {"message_groups": "transaction"}],
    ids=lambda o: "-".join(map(str, o.values())),
)
def test_nothing_of_the_same_order_overtakes_a_waiting_message(
    db: Db, connect: Connect, clock: Clock, create: Create, options: dict[str, Any], number: int
) -> None:
    create(redelivery_delay_ms=5000, **options)
    sent = [one(db, "select howdah.send('q', 'x', headers => '{\"JMSXGroupID\": \"g\"}')") for _ in range(3)]
    assert fail_in_hand(db, connect) == sent[0]
    other = connect()
    assert receive(other, "q", number) == []
    assert receive(other, "q", number) == []
    clock.advance(5)
    assert [m.message_id for m in receive(other)] == sent[:1]
