"""The messages of a subscription are leased like those of a queue."""

from __future__ import annotations

import pytest
from leased_messages import lease
from support import Clock, Db, column, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3}')""")


def test_a_shared_subscription_is_leased_and_acknowledged_out_of_order(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_topic('t')")
    name = one(db, "select howdah.subscribe('t', 's', shared => true)")
    other = one(db, "select howdah.subscribe('t', 'o')")
    sent = one(db, "select howdah.send_batch('t', array['a', 'b', 'c', 'd'])")
    first = lease(db, 2, seconds=10, queue=name)
    assert [m.body for m in first] == ["a", "b"]
    assert [m.body for m in receive(db, name)] == ["c"]
    assert one(db, "select howdah.ack(%s, %s, %s)", (name, first[0].lease, [sent[1]])) == 1
    assert [m.body for m in receive(db, name, n=9)] == ["d"]
    clock.advance(11)
    (again,) = lease(db, 9, queue=name)
    assert (again.message_id, again.delivery_count) == (sent[0], 2)
    refused(db, "HD026", "select howdah.ack(%s, %s)", (name, first[0].lease))
    assert column(db, "select outcome from howdah.nack(%s, %s)", (name, again.lease)) == ["returned"]
    (again,) = lease(db, 9, queue=name)
    assert one(db, "select howdah.extend(%s, %s)", (name, again.lease)) is not None
    assert one(db, "select howdah.ack(%s, %s)", (name, again.lease)) == 1
    assert lease(db, 9, queue=name) == []
    assert [m.message_id for m in receive(db, other, n=9)] == sent, "the other subscriber is not disturbed"
    assert one(db, "select count(*) from howdah.acked") == 0, "the cursor has moved over them"


def test_the_journal_tells_non_persistent_topic_messages_that_were_leased_from_persistent_ones(db: Db) -> None:
    one(db, "select howdah.create_topic('t')")
    name = one(db, "select howdah.subscribe('t', 's')")
    modes = ["persistent", "non-persistent", "persistent"]
    sent = [one(db, "select howdah.send('t', 'a', delivery_mode => %s)", (mode,)) for mode in modes]
    first = lease(db, 9, queue=name)
    assert one(db, "select howdah.ack(%s, %s)", (name, first[0].lease)) == 3
    assert sorted(
        db.execute(
            "select i.id, j.nonpersistent from howdah.journal j, unnest(j.message_ids) i(id) where j.event = 'consumed'"
        ).fetchall()
    ) == list(zip(sent, [False, True, False], strict=True))


def test_a_leased_topic_message_is_not_truncated_away(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_topic('t')")
    name = one(db, "select howdah.subscribe('t', 's')")
    one(db, "select howdah.send('t', 'a')")
    assert len(lease(db, queue=name)) == 1
    for _ in range(8):
        clock.advance(700)
        one(db, "select howdah.send('t', 'b')")
        one(db, "select howdah.maintain_topics()")
    assert one(db, "select max(generation) from howdah.topic_ring") > 2
    assert [m.body for m in receive(db, name, n=99)] == ["a"] + ["b"] * 8
