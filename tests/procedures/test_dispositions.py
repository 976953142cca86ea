"""A message at its limit goes where its policy says, or to the system's exception destination."""

from __future__ import annotations

from datetime import timedelta

import pytest
from policy_support import (
    Create,
    alter,
    ids,
    outcomes,
    send,
)
from psycopg.types.json import Jsonb
from support import (
    SYSTEM,
    Clock,
    Db,
    column,
    deliver_and_fail,
    one,
    receive,
    refused,
)


@pytest.mark.behaviour("WAS-13")
def test_a_named_destination_that_is_missing_falls_back_to_the_systems(db: Db, create: Create) -> None:
    create("MY.EXC")
    create(max_failed_deliveries=1, exception_queue="MY.EXC")
    first, second = send(db), send(db)
    assert outcomes(db, 1) == ["moved"]
    assert ids(db, "MY.EXC") == [first]
    one(db, "select howdah.drop_queue('MY.EXC', true)")
    assert outcomes(db, 1) == ["moved"]
    (dead,) = receive(db, SYSTEM, 1, "browse")
    assert (dead.message_id, dead.dead_reason) == (
        second,
        "failed deliveries reached the limit; there is no queue MY.EXC",
    )


@pytest.mark.parametrize("limit", [{"message_limit": 1}, {"byte_limit": 1}])
def test_a_full_destination_falls_back_too(db: Db, create: Create, limit: dict[str, int]) -> None:
    create("small", **limit)
    create(max_failed_deliveries=1, exception_queue="small")
    send(db)
    second = send(db)
    assert outcomes(db, 2) == ["moved", "moved"]
    assert ids(db, SYSTEM) == [second]


@pytest.mark.parametrize("limit", [{"message_limit": 2}, {"byte_limit": 4}])
def test_a_full_queue_refuses_sends_and_takes_them_again_when_there_is_room(
    db: Db, create: Create, limit: dict[str, int]
) -> None:
    create("q", **limit)
    send(db, body="ab")
    send(db, body="cd")
    refused(db, "HD018", "select howdah.send('q', 'ef')")
    refused(db, "HD018", "select howdah.send_batch('q', array['g'])")
    assert len(receive(db)) == 1
    send(db, body="ef")


def test_an_operator_may_fill_a_queue_beyond_its_limits(db: Db, create: Create) -> None:
    create("aside")
    create(message_limit=1, byte_limit=1, max_failed_deliveries=1)
    dead = send(db)
    assert outcomes(db, 1) == ["moved"]
    other = send(db, "aside")
    send(db)
    assert one(db, f"select howdah.replay('{SYSTEM}')") == 1
    assert one(db, "select howdah.move_messages('aside', %s, 'q')", ([other],)) == 1
    assert {dead, other} < set(ids(db, "q"))


@pytest.mark.behaviour("AMQ-110")
def test_activemqs_dead_messages_say_what_they_were(db: Db, create: Create, clock: Clock) -> None:
    create(preset="activemq", max_failed_deliveries=0, exception_mode="shared", process_non_persistent=True)
    alter(db, max_failed_deliveries=1, limit_comparison="reached")
    sent = send(db, delivery_mode="non-persistent", time_to_live=timedelta(seconds=60))
    expiry = one(db, "select expires_at from howdah.msgs_nonpersistent")
    assert outcomes(db, 1) == ["moved"]
    (dead,) = receive(db, "ActiveMQ.DLQ", 1, "browse")
    assert (dead.message_id, dead.delivery_mode, dead.expires_at) == (sent, "persistent", None)
    assert dead.headers == {
        "originalExpiration": round(expiry.timestamp() * 1000),
        "originalDeliveryMode": "NON_PERSISTENT",
        "dlqDeliveryFailureCause": "failed deliveries reached the limit",
    }


@pytest.mark.behaviour("AMQ-112")
@pytest.mark.behaviour("AMQ-113")
@pytest.mark.parametrize("processed", [False, True])
def test_non_persistent_messages_are_dead_lettered_only_if_the_policy_says_so(
    db: Db, create: Create, processed: bool
) -> None:
    create(preset="activemq", max_failed_deliveries=1, limit_comparison="reached", process_non_persistent=processed)
    send(db, delivery_mode="non-persistent")
    assert outcomes(db, 1) == ["moved" if processed else "discarded"]
    assert len(ids(db, "ActiveMQ.DLQ")) == int(processed)
    assert one(db, "select discarded from howdah.queue_stats('q')") == int(not processed)


def test_individual_dead_letter_queues_bear_the_prefix(db: Db, create: Create) -> None:
    create(exception_mode="individual", exception_prefix="DLQ.", max_failed_deliveries=1)
    sent = send(db)
    assert outcomes(db, 1) == ["moved"]
    assert ids(db, "DLQ.q") == [sent]


@pytest.mark.behaviour("SSB-26")
def test_a_message_can_simply_be_discarded(db: Db, create: Create) -> None:
    create(at_limit="discard", max_failed_deliveries=1)
    send(db)
    assert outcomes(db, 1) == ["discarded"]
    assert ids(db, SYSTEM) == []
    assert one(db, "select discarded from howdah.queue_stats('q')") == 1


@pytest.mark.behaviour("SSB-30")
def test_quarantine_returns_the_message_with_its_history_and_then_moves_it(
    db: Db, create: Create, clock: Clock
) -> None:
    create(max_failed_deliveries=2, at_limit="quarantine", quarantine_ms=60000, log_table=True)
    sent = send(db)
    assert outcomes(db, 2) == ["returned", "quarantined"]
    clock.advance(59)
    assert receive(db) == []
    clock.advance(1)
    assert outcomes(db, 2) == ["returned", "moved"]
    assert ids(db, SYSTEM) == [sent]
    assert len(column(db, "select incident_id from howdah.incidents('q')")) == 4
    assert column(db, "select outcome from howdah.poison_log order by log_id") == ["quarantined", "moved"]


def test_a_message_in_its_last_stage_is_quarantined_no_more(db: Db, create: Create, clock: Clock) -> None:
    create(max_failed_deliveries=1, at_limit="quarantine", quarantine_ms=1000, quarantine_times=9)
    sent = send(db)
    db.execute("update howdah.msgs set stage = 32766")
    assert outcomes(db, 1) == ["quarantined"]
    clock.advance(1)
    assert outcomes(db, 1) == ["moved"]
    (dead,) = receive(db, SYSTEM, verb="browse")
    assert (dead.message_id, dead.stage) == (sent, 32767)


def test_two_exception_queues_of_each_other_give_a_message_to_the_systems(db: Db, create: Create) -> None:
    create("a")
    create("b", exception_queue="a", max_failed_deliveries=1)
    one(db, "select howdah.alter_queue('a', %s)", (Jsonb({"exception_queue": "b", "max_failed_deliveries": 1}),))
    sent = send(db, "a")
    assert [deliver_and_fail(db, queue) for queue in "ab"] == [(1, "moved")] * 2
    (dead,) = receive(db, SYSTEM, verb="browse")
    assert (dead.message_id, dead.origin_queue) == (sent, "a")
    assert "it came from queue a" in str(dead.dead_reason)


@pytest.mark.parametrize("last", ["a", "b"])
def test_no_circle_of_exception_queues_leads_round(db: Db, create: Create, last: str) -> None:
    for queue in "abc":
        create(queue, max_failed_deliveries=1)
    for queue, target in zip("abc", "bc" + last, strict=True):
        one(db, "select howdah.alter_queue(%s, %s)", (queue, Jsonb({"exception_queue": target})))
    sent = send(db, "a")
    for _ in range(2):
        assert [deliver_and_fail(db, queue) for queue in "abc"] == [(1, "moved")] * 3
        (dead,) = receive(db, SYSTEM, verb="browse")
        assert (dead.message_id, dead.origin_queue) == (sent, "a")
        assert f"it came from queue {last}" in str(dead.dead_reason)
        assert one(db, f"select howdah.replay('{SYSTEM}')") == 1
