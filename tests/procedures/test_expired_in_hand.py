"""Topic messages that expire while somebody has them: held by a transaction, or under a lease."""

from __future__ import annotations

from typing import Any

import pytest
from support import Clock, Connect, Db, column, one, receive, refused
from topics_support import bodies, consume, publish, rotate, stored, subscribe, topic

CONSUME = "select howdah.consume_locked('t::s', array[%s::bigint], array[4], array[%s::bigint])"


def held(db: Db, n: int = 9) -> list[int]:
    return [message.message_id for message in receive(db, "t::s", n, "receive_locked")]


def consumed(db: Db) -> list[int]:
    return column(db, "select unnest(message_ids) from howdah.journal where event = 'consumed' order by 1")


@pytest.mark.parametrize(
    "wanted",
    [{}, {"shared": True}, {"selector": "n = 1"}, {"options": {"prioritized": True}}, {"to": "t.>"}],
    ids=["alone", "shared", "selected", "prioritized", "wildcard"],
)
def test_a_held_message_that_expires_is_consumed_once(db: Db, clock: Clock, wanted: dict[str, Any]) -> None:
    to = "t.a" if "to" in wanted else "t"
    topic(db, to)
    name = subscribe(db, **wanted)
    (sent,) = publish(db, "x", to=to, time_to_live="1 s", headers={"n": 1})
    again = f"select howdah.consume_locked('{name}', array[{sent}], array[4], array[{sent // 1_000_000}])"
    with db.transaction():
        assert [message.message_id for message in receive(db, name, 9, "receive_locked")] == [sent]
        clock.advance(2)
        consume(db, name, sent)
        refused(db, "HD013", again)
    refused(db, "HD013", again)
    assert consumed(db) == [sent]
    assert bodies(db, name) == []


def test_a_held_message_is_consumed_after_another_consumer_has_passed_it_as_expired(
    db: Db, clock: Clock, connect: Connect
) -> None:
    topic(db)
    subscribe(db, shared=True)
    (sent,) = publish(db, "x", time_to_live="1 s")
    other = connect()
    with db.transaction():
        assert held(db) == [sent]
        clock.advance(2)
        assert bodies(other) == []
        assert one(other, "select seq from howdah.ack_cursors order by n desc limit 1") == -1, (
            "it went over the message"
        )
        consume(db, "t::s", sent)
        refused(db, "HD013", CONSUME, (sent, sent // 1_000_000))
    refused(db, "HD013", CONSUME, (sent, sent // 1_000_000))
    assert consumed(db) == [sent]
    for _ in range(3):
        rotate(db, clock)
    assert one(db, "select count(*) from howdah.acked") == 0


def test_nobody_consumes_an_expired_message_that_was_passed_and_that_they_do_not_hold(db: Db, clock: Clock) -> None:
    topic(db)
    subscribe(db, shared=True)
    (sent,) = publish(db, "x", time_to_live="1 s")
    clock.advance(2)
    assert bodies(db) == []
    refused(db, "HD013", CONSUME, (sent, sent // 1_000_000))
    assert consumed(db) == []


@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
def test_a_leased_message_that_expires_is_carried_on_until_it_is_acknowledged(db: Db, clock: Clock, mode: str) -> None:
    topic(db)
    subscribe(db)
    subscribe(db, "other")
    (sent,) = publish(db, "x", time_to_live="5 min", delivery_mode=mode)
    number = one(db, "select lease from howdah.lease('t::s', 1, '1 h')")
    for _ in range(4):
        rotate(db, clock)
    assert stored(db) == 1
    assert bodies(db, "t::other") == []
    assert one(db, "select howdah.ack('t::s', %s)", (number,)) == 1
    assert consumed(db) == [sent]
    for _ in range(3):
        rotate(db, clock)
    assert (stored(db), one(db, "select count(*) from howdah.acked")) == (0, 0)
