"""A message that is dead in one subscription is replayed to that one alone, discarded or moved on."""

from datetime import timedelta

import pytest
from psycopg.types.json import Jsonb
from support import SYSTEM, Db, fail, one, receive, refused
from topics_support import bodies, publish, subscribe, topic


@pytest.fixture(autouse=True)
def a_topic(db: Db) -> None:
    topic(db)


@pytest.fixture(params=[False, True], ids=["unshared", "shared"])
def shared(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.first_case
@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
def test_a_dead_message_is_replayed_to_its_subscription_alone(db: Db, mode: str, shared: bool) -> None:
    name = subscribe(db, shared=shared, options={"max_failed_deliveries": 1})
    other = subscribe(db, "other")
    (sent,) = publish(db, "a", delivery_mode=mode, headers={"n": 1})
    fail(db, sent, name)
    assert bodies(db, other) == ["a"]
    assert one(db, "select howdah.replay(%s)", (SYSTEM,)) == 1
    assert one(db, "select set_aside from howdah.list_subscriptions() where subscription = %s", (name,)) == 1
    (back,) = receive(db, name, 9)
    assert (back.body, back.delivery_count, back.stage, back.headers, back.delivery_mode) == ("a", 1, 2, {"n": 1}, mode)
    assert (bodies(db, name), bodies(db, other)) == ([], [])


def test_a_replayed_message_is_held_and_consumed_or_fails_again(db: Db) -> None:
    name = subscribe(db, options={"max_failed_deliveries": 1})
    (sent,) = publish(db, "a")
    fail(db, sent, name)
    one(db, "select howdah.replay(%s)", (SYSTEM,))
    assert fail(db, sent, name)[2] == "moved"
    one(db, "select howdah.replay(%s)", (SYSTEM,))
    with db.transaction():
        (held,) = receive(db, name, 9, "receive_locked")
        one(db, "select howdah.consume_locked(%s, %s, %s, %s)", (name, [sent], [held.priority], [held.position]))
    assert bodies(db, name) == []


def test_a_dead_message_is_discarded_or_moved_on_but_not_into_a_topic(db: Db) -> None:
    name = subscribe(db, options={"max_failed_deliveries": 1})
    one(db, "select howdah.create_queue('aside')")
    first, second, third = publish(db, "a", "b", "c")
    for number in (first, second, third):
        fail(db, number, name)
    refused(db, "HD001", "select howdah.replay(%s, array[%s::bigint], 't')", (SYSTEM, first))
    refused(db, "HD001", "select howdah.move_messages(%s, array[%s::bigint], 't')", (SYSTEM, first))
    assert one(db, "select howdah.discard(%s, array[%s::bigint])", (SYSTEM, first)) == 1
    assert one(db, "select howdah.move_messages(%s, array[%s::bigint], 'aside')", (SYSTEM, second)) == 1
    assert one(db, "select howdah.replay(%s, array[%s::bigint], 'aside')", (SYSTEM, third)) == 1
    assert bodies(db, "aside") == ["b", "c"]


def test_a_message_dead_in_two_subscriptions_goes_back_to_each(db: Db) -> None:
    names = [subscribe(db, name, options={"max_failed_deliveries": 1}) for name in "ab"]
    (sent,) = publish(db, "x")
    for name in names:
        fail(db, sent, name)
    assert sorted(str(m.origin_queue) for m in receive(db, SYSTEM, 9, "browse")) == names
    assert one(db, "select howdah.replay(%s, array[%s::bigint])", (SYSTEM, sent)) == 2
    assert [bodies(db, name) for name in names] == [["x"], ["x"]]


def test_dropping_the_subscription_ends_what_was_set_aside_and_its_dead_messages_stay(db: Db) -> None:
    name = subscribe(db, options={"max_failed_deliveries": 2})
    dead, waiting = publish(db, "dead", "waiting")
    fail(db, dead, name), fail(db, dead, name)
    fail(db, waiting, name, delay=timedelta(hours=1))
    one(db, "select howdah.unsubscribe(%s)", (name,))
    assert one(db, "select count(*) from howdah.parked") == 0
    assert [m.message_id for m in receive(db, SYSTEM, 9, "browse")] == [dead]
    refused(db, "HD001", "select howdah.replay(%s)", (SYSTEM,))
    one(db, "select howdah.create_queue('aside', %s)", (Jsonb({}),))
    assert one(db, "select howdah.replay(%s, target => 'aside')", (SYSTEM,)) == 1
