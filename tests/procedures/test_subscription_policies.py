"""Each subscription has its own delays, quarantine, preset and dead letter queue."""

from datetime import timedelta
from typing import Any

import pytest
from support import SYSTEM, Clock, Db, column, deliver_and_fail, fail, one, receive, refused
from topics_support import bodies, publish, subscribe, topic


@pytest.fixture(autouse=True)
def a_topic(db: Db) -> None:
    topic(db)


@pytest.fixture(params=[False, True], ids=["unshared", "shared"])
def shared(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.first_case
def test_a_delayed_message_waits_while_the_others_go_on(db: Db, clock: Clock, shared: bool) -> None:
    name = subscribe(db, shared=shared, options={"redelivery_delay_ms": 10_000})
    sent = publish(db, "a", "b")
    assert fail(db, sent[0], name)[1:] == (1, "delayed")
    assert bodies(db, name) == ["b"]
    assert one(db, "select set_aside from howdah.list_subscriptions()") == 1
    clock.advance(9)
    assert bodies(db, name) == []
    clock.advance(1)
    publish(db, "c")
    (again, new) = receive(db, name, 9)
    assert (again.body, again.delivery_count, again.message_id, new.body) == ("a", 2, sent[0], "c")
    assert bodies(db, name) == []


def test_a_delay_of_the_failure_itself_holds_and_retry_ends_it(db: Db, clock: Clock) -> None:
    name = subscribe(db)
    (sent,) = publish(db, "a")
    assert fail(db, sent, name, delay=timedelta(hours=1))[2] == "delayed"
    assert bodies(db, name) == []
    assert one(db, "select howdah.retry(%s)", (name,)) == 1
    assert [(m.body, m.delivery_count) for m in receive(db, name)] == [("a", 2)]


def test_quarantine_and_its_end_are_the_subscriptions_own(db: Db, clock: Clock) -> None:
    name = subscribe(
        db,
        options={"max_failed_deliveries": 1, "at_limit": "quarantine", "quarantine_ms": 60_000, "quarantine_times": 1},
    )
    other = subscribe(db, "other")
    (sent,) = publish(db, "a")
    assert fail(db, sent, name)[2] == "quarantined"
    assert (bodies(db, name), bodies(db, other)) == ([], ["a"])
    clock.advance(60)
    with db.transaction(force_rollback=True):
        (back,) = receive(db, name)
        assert (back.delivery_count, back.stage) == (1, 1)
    assert fail(db, sent, name)[2] == "moved"
    assert bodies(db, name) == []


PRESETS = {
    "howdah": (5, "moved", SYSTEM),
    "websphere": (5, "moved", SYSTEM),
    "activemq": (7, "moved", "ActiveMQ.DLQ"),
}


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_hold_at_subscriptions(db: Db, clock: Clock, preset: str) -> None:
    limit, last, target = PRESETS[preset]
    name = subscribe(db, options={"preset": preset})
    (sent,) = publish(db, "x")
    outcomes = []
    for _ in range(limit):
        (message,) = [m for m in receive_and_return(db, name)]
        outcomes.append(fail(db, message.message_id, name)[2])
        clock.advance(3600)
    assert outcomes[-1] == last
    assert bodies(db, name) == []
    assert [m.message_id for m in receive(db, target, 9, "browse")] == [sent]


def receive_and_return(db: Db, name: str) -> list[Any]:
    with db.transaction(force_rollback=True):
        return list(receive(db, name))


def test_mq_moves_a_message_at_its_limit_when_it_is_received(db: Db, shared: bool) -> None:
    name = subscribe(db, shared=shared, options={"preset": "websphere_mq", "max_failed_deliveries": 2})
    sent, fine = publish(db, "x", "fine")
    assert [fail(db, sent, name)[2] for _ in range(2)] == ["returned", "returned"]
    assert [m.message_id for m in receive(db, name, 9)] == [fine]
    assert bodies(db, name) == []
    assert [m.message_id for m in receive(db, "SYSTEM.DEAD.LETTER.QUEUE", 9, "browse")] == [sent]


def test_five_rollbacks_in_a_row_disable_a_subscription_under_service_brokers_preset(db: Db) -> None:
    name = subscribe(db, options={"preset": "service_broker"})
    other = subscribe(db, "other")
    publish(db, "x")
    for _ in range(5):
        deliver_and_fail(db, name)
    said = refused(db, "HD016", "select howdah.receive(%s)", (name,))
    assert name in (said.message_primary or "")
    assert bodies(db, other) == ["x"]
    one(db, "select howdah.resume(%s)", (name,))
    assert bodies(db, name) == ["x"]


def test_an_individual_dead_letter_queue_and_a_named_one_take_what_a_subscription_gives_up(db: Db) -> None:
    one(db, "select howdah.create_queue('dead')")
    named = subscribe(
        db, "named", options={"max_failed_deliveries": 1, "exception_mode": "named", "exception_queue": "dead"}
    )
    own = subscribe(db, "own", options={"max_failed_deliveries": 1, "exception_mode": "individual"})
    (sent,) = publish(db, "x")
    assert [fail(db, sent, name)[2] for name in (named, own)] == ["moved", "moved"]
    assert bodies(db, "dead", verb="browse") == ["x"]
    assert column(db, "select queue from howdah.list_queues() where queue like 'ActiveMQ.DLQ.%%'") == [
        f"ActiveMQ.DLQ.Queue.{own}"
    ]
