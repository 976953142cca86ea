"""Failures are counted by message, conversation or group, and anew after a message came back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from policy_support import (
    CONVERSATION,
    Create,
    ids,
    outcomes,
    send,
)
from psycopg.types.json import Jsonb
from support import (
    SYSTEM,
    Clock,
    Connect,
    Db,
    deliver_and_fail,
    fail,
    one,
    receive,
)


@pytest.mark.behaviour("SSB-19")
def test_service_broker_counts_by_conversation_and_goes_beyond_the_threshold(db: Db, create: Create) -> None:
    create(preset="service_broker", poison_handling=False)
    first, second, other = (send(db, conversation_id=UUID(int=n)) for n in (7, 7, 8))
    for message_id in (first, second, first, second, first):
        fail(db, message_id)
    with db.transaction(force_rollback=True):
        got = receive(db, n=9)
        assert [(m.message_id, m.delivery_count) for m in got] == [(first, 6), (second, 6), (other, 1)]
    fail(db, second)
    assert ids(db, "q", "receive") == [other], "six failures of the conversation are more than five"


@pytest.mark.behaviour("SSB-25")
def test_incidents_of_a_conversation_can_be_cleaned_when_it_is_over(db: Db, create: Create) -> None:
    create(count_by="conversation", max_failed_deliveries=2, clean_incidents=True)
    query = "select count(*) from howdah.poison_details where conversation_id = %s"
    send(db, conversation_id=CONVERSATION)
    assert outcomes(db, 1) == ["returned"]
    assert one(db, query, (CONVERSATION,)) == 1
    assert outcomes(db, 1) == ["moved"]
    assert one(db, query, (CONVERSATION,)) == 0
    send(db, conversation_id=CONVERSATION)
    assert deliver_and_fail(db)[1] == "returned", "it begins at nothing again"


@pytest.mark.first_case
@pytest.mark.behaviour("SSB-24")
@pytest.mark.parametrize("readers", [8, 32])
def test_readers_return_a_poison_message_at_least_as_often_as_the_threshold_says(
    db: Db, create: Create, connect: Connect, readers: int
) -> None:
    create(preset="service_broker", poison_handling=False)
    sent = send(db, conversation_id=CONVERSATION)

    def read(connection: Db) -> int:
        calls, idle = 0, 0
        while idle < 20:
            connection.execute("begin")
            got = receive(connection)
            connection.execute("rollback" if got else "commit")
            if got:
                calls += 1
                fail(connection, sent)
            idle = idle + 1 if not got else 0
        return calls

    connections = [connect() for _ in range(readers)]
    with ThreadPoolExecutor(readers) as threads:
        attempts = sum(threads.map(read, connections))
    assert 6 <= attempts <= 6 + readers
    assert ids(db, "q") == []
    assert one(db, "select count(*) from howdah.ended_conversations") == 1


@pytest.mark.parametrize("count_by", ["conversation", "group"])
@pytest.mark.parametrize("back", ["quarantine", "replay"])
def test_a_message_that_comes_back_into_its_conversation_counts_anew(
    db: Db, create: Create, clock: Clock, back: str, count_by: str
) -> None:
    create(count_by=count_by, max_failed_deliveries=2, at_limit="quarantine" if back == "quarantine" else "move")
    sent, brother = (send(db, conversation_id=CONVERSATION) for _ in range(2))
    assert outcomes(db, 2) == ["returned", "quarantined" if back == "quarantine" else "moved"]
    assert ids(db, "q", "receive") == [], "the conversation is at its limit"
    if back == "quarantine":
        clock.advance(3600)
    else:
        assert one(db, "select howdah.replay(%s, %s)", (SYSTEM, [sent])) == 1
    assert outcomes(db, 2) == ["returned", "moved"]
    assert ids(db, "q", "receive") == []
    assert sorted(ids(db, SYSTEM)) == [sent, brother]


@pytest.mark.first_case
@pytest.mark.parametrize("count_by", ["message", "conversation", "group"])
def test_one_message_at_a_time_is_counted_like_many_at_once(db: Db, create: Create, count_by: str) -> None:
    """The fast path skips what surely has no failure; the slow path counts for each message."""
    for queue in ("one", "many", "other"):
        create(queue, count_by=count_by, decided_at="receive", max_failed_deliveries=3)
        for body, times, conversation in [
            ("healthy", 0, None),
            ("once", 1, None),
            ("twice", 2, None),
            ("at its limit", 3, None),
            ("with a brother", 2, CONVERSATION),
            ("its brother", 0, CONVERSATION),
            ("in a conversation", 0, UUID(int=8)),
            ("earlier", 3, None),
            ("rejected", 0, None),
        ]:
            sent = send(db, queue, body, conversation_id=conversation)
            for _ in range(times):
                assert fail(db, sent, queue)[2] == "returned"
            if body == "earlier":
                db.execute("update howdah.msgs set stage = 1 where message_id = %s", (sent,))
            if body == "rejected":
                db.execute(
                    "select howdah.record_failures(%s, %s, true)",
                    (queue, Jsonb([{"message_id": sent, "reject": True}])),
                )
    seen = db.execute(
        "select howdah._is_unblamed(m.message_id, m.headers, m.conversation_id),"
        " howdah._failures(m.destination_id, m.message_id, m.stage, m.conversation_id,"
        " howdah._group(m.headers, m.conversation_id)) from howdah.msgs m"
    ).fetchall()
    assert {failures for unblamed, failures in seen if unblamed} == {0}
    assert sum(unblamed for unblamed, _ in seen) == 3
    singly = [(m.body, m.delivery_count) for _ in range(12) for m in receive(db, "one")]
    together = [(m.body, m.delivery_count) for m in receive(db, "many", 12)]
    assert singly == together
    assert dict(together) == {
        "healthy": 1,
        "once": 2,
        "twice": 3,
        "with a brother": 3,
        "its brother": 1 if count_by == "message" else 3,
        "in a conversation": 1,
        "earlier": 1,
    }
