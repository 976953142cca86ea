"""What a session delivers again from its leases stays its own under a new number and counts as failed."""

from __future__ import annotations

import pytest
from session_leases_support import lease, redeliver, send
from support import Clock, Connect, Db, column, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3}')""")


def test_what_is_delivered_again_stays_the_callers_under_a_new_number(db: Db, connect: Connect) -> None:
    sent = send(db, 6)
    first, second = lease(db, 2)[0], lease(db, 2)[0]
    again = redeliver(db, [first, second], [sent[2], sent[1]])
    assert [row[1:] for row in again] == [(sent[1], 2), (sent[2], 2)]
    (number,) = {row[0] for row in again}
    assert number > second
    assert [m.message_id for m in receive(connect(), "q", n=9)] == sent[4:]
    refused(db, "HD026", "select howdah.ack('q', %s, %s)", (first, [sent[1]]))
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 2
    assert one(db, "select howdah.ack('q', %s)", (first,)) == 1
    assert redeliver(db, [first, number], sent) == [], "what they have lost is passed by"
    assert column(db, "select error_class from howdah.incidents('q')") == ["Rollback", "Rollback"]


def test_delivering_again_follows_the_policy_of_the_queue(db: Db, clock: Clock) -> None:
    (sent,) = send(db, 1)
    number, _ = lease(db, 1)
    for count in (2, 3):
        ((number, _, delivered),) = redeliver(db, [number], [sent])
        assert delivered == count
    assert redeliver(db, [number], [sent]) == [], "moved: that was the third failure"
    one(db, """select howdah.alter_queue('q', '{"redelivery_delay_ms": 5000}')""")
    (sent,) = send(db, 1)
    number, _ = lease(db, 1)
    assert redeliver(db, [number], [sent]) == []
    assert receive(db, "q") == []
    clock.advance(6)
    assert [m.delivery_count for m in receive(db, "q")] == [2]


def test_a_queue_that_decides_when_it_receives_disposes_of_what_is_at_its_limit(db: Db) -> None:
    (sent,) = send(db, 1)
    number, _ = lease(db, 1)
    one(db, """select howdah.alter_queue('q', '{"decided_at": "receive"}')""")
    for _ in range(2):
        ((number, _, _),) = redeliver(db, [number], [sent])
    assert redeliver(db, [number], [sent]) == []
    assert receive(db, "q", n=9) == []
    assert column(db, "select message_id from howdah.audit_messages where state = 'dead'") == [sent]


def test_a_queue_that_failures_disabled_gives_nothing_out_again(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"disable_after": 1}')""")
    sent = send(db, 1)
    number, _ = lease(db, 1)
    assert redeliver(db, [number], sent) == []
    refused(db, "HD016", "select howdah.receive('q')")
    one(db, "select howdah.resume('q')")
    assert [m.message_id for m in receive(db, "q")] == sent


@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
def test_messages_of_every_kind_are_delivered_again(db: Db, mode: str) -> None:
    sent = send(db, 2, delivery_mode=mode, priority=8)
    number, _ = lease(db, 2)
    ((again, message_id, _),) = redeliver(db, [number], sent[:1])
    assert message_id == sent[0]
    assert one(db, "select delivery_mode from howdah.redeliver('q', %s, %s)", ([again], sent[:1])) == mode
    one(db, "select count(*) from howdah.end_leases('q', array(select lease from howdah.list_leases('q')))")
    assert [(m.message_id, m.delivery_count) for m in receive(db, "q", n=9)] == [(sent[0], 3), (sent[1], 1)]


@pytest.mark.first_case
@pytest.mark.parametrize("shared", [True, False])
def test_a_subscriptions_messages_are_delivered_again_and_given_back(db: Db, shared: bool) -> None:
    one(db, "select howdah.create_topic('t')")
    name = one(db, "select howdah.subscribe('t', 's', shared => %s)", (shared,))
    sent = send(db, 3, "t")
    number, _ = lease(db, 3, name)
    ((again, message_id, count),) = redeliver(db, [number], sent[:1], name)
    assert (message_id, count) == (sent[0], 2)
    assert one(db, "select howdah.ack(%s, %s)", (name, again)) == 1
    db.execute("select howdah.end_leases(%s, %s, %s)", (name, [number], sent[1:2]))
    assert [(m.message_id, m.delivery_count) for m in receive(db, name, n=9)] == [(sent[1], 2), (sent[2], 1)]
    assert receive(db, name) == []


def test_a_rolled_back_redelivery_changes_nothing(db: Db, connect: Connect) -> None:
    sent = send(db, 2)
    number, _ = lease(db, 2)
    other = connect()
    with other.transaction(force_rollback=True):
        assert len(redeliver(other, [number], sent)) == 2
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 2
    assert one(db, "select count(*) from howdah.poison_details") == 0
