"""Of a lease held ahead that runs out, only what may have been delivered counts as failed."""

from __future__ import annotations

import pytest
from session_leases_support import lease, redeliver, send
from support import Clock, Connect, Db, column, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3}')""")


def ahead(db: Db, n: int, suspects: int, finished: list[int] | None = None, queue: str = "q") -> int:
    rows = db.execute(
        "select lease from howdah.lease_ahead(%s, %s, '1 minute', %s, %s)", (queue, n, suspects, finished or [])
    ).fetchall()
    assert len(rows) == n
    number: int = rows[0][0]
    return number


@pytest.mark.parametrize("priority", [4, 9])
def test_of_a_lease_held_ahead_that_runs_out_only_the_first_ones_left_count(
    db: Db, clock: Clock, priority: int
) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    sent = send(db, 6, priority=priority)
    number = ahead(db, 6, 2)
    one(db, "select howdah.ack('q', %s, %s)", (number, sent[:1]))
    clock.advance(61)
    assert [(m.message_id, m.delivery_count, m.redelivered) for m in receive(db, "q", n=1)] == [(sent[3], 2, True)]
    assert [m.message_id for m in receive(db, "q", n=9)] == sent[4:]
    assert column(db, "select message_id from howdah.audit_messages where state = 'dead' order by 1") == sent[1:3]
    incidents = db.execute("select message_id, uncounted from howdah.poison_details order by 1").fetchall()
    assert incidents == [(sent[1], False), (sent[2], False), (sent[3], True), (sent[4], True), (sent[5], True)]
    assert (
        sorted(column(db, "select details ->> 'uncounted' from howdah.incidents('q')"), key=str)
        == [None] * 2 + ["true"] * 3
    )


def test_an_uncounted_failure_stays_so_when_others_follow(db: Db, clock: Clock) -> None:
    """The limit is 3: two uncounted ones and two others are not at it."""
    (sent,) = send(db, 1)
    for _ in range(2):
        ahead(db, 1, 0)
        clock.advance(61)
    number, _ = lease(db, 1)
    ((number, _, count),) = redeliver(db, [number], [sent])
    assert count == 4
    ((number, _, count),) = redeliver(db, [number], [sent])
    assert count == 5
    assert redeliver(db, [number], [sent]) == []
    assert column(db, "select message_id from howdah.audit_messages where state = 'dead'") == [sent]


def test_a_queue_that_counts_by_conversation_leaves_uncounted_failures_out_too(db: Db, clock: Clock) -> None:
    one(db, """select howdah.create_queue('c', '{"max_failed_deliveries": 2, "count_by": "conversation"}')""")
    conversation = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
    sent = send(db, 3, "c", conversation_id=conversation)
    for _ in range(2):
        ahead(db, 3, 0, queue="c")
        clock.advance(61)
    assert [m.message_id for m in receive(db, "c", n=9)] == sent


def test_of_a_subscription_only_the_first_ones_left_count(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_topic('t')")
    name = one(db, """select howdah.subscribe('t', 's')""")
    one(db, """select howdah.alter_queue(%s, '{"max_failed_deliveries": 1}')""", (name,))
    sent = send(db, 4, "t")
    ahead(db, 4, 1, queue=name)
    clock.advance(61)
    assert [m.message_id for m in receive(db, name, n=9)] == sent[1:]


def test_receivers_of_what_came_back_do_not_wait_for_each_other(db: Db, clock: Clock, connect: Connect) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    sent = send(db, 5)
    ahead(db, 5, 1)
    clock.advance(61)
    other = connect()
    db.execute("set statement_timeout = '20s'")
    with other.transaction():
        assert [m.message_id for m in receive(other, "q", n=1)] == sent[1:2], "the first one is at its limit"
        assert [m.message_id for m in receive(db, "q", n=9)] == sent[2:]


def test_what_the_server_remembers_of_a_lease_held_ahead_is_forgotten(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_queue('r')")
    send(db, 8)
    send(db, 2, "r")
    first, other = ahead(db, 2, 1), ahead(db, 2, 1, queue="r")
    assert column(db, "select lease_id from howdah.ahead_leases order by 1") == [first, other]
    one(db, "select howdah.ack('q', %s)", (first,))
    second = ahead(db, 2, 1, [first, other])
    assert column(db, "select lease_id from howdah.ahead_leases order by 1") == [other, second], "of its own queue only"
    db.execute("select howdah.end_leases('q', %s)", ([second],))
    third = ahead(db, 2, 1)
    one(db, "select howdah.ack('r', %s)", (other,))
    one(db, "select howdah.maintain_incidents()")
    assert column(db, "select lease_id from howdah.ahead_leases") == [third]
    assert ahead(db, 1, 1) > third
    assert column(db, "select lease_id from howdah.ahead_leases") == [third], "all of them count: nothing to remember"
    refused(db, "HD005", "select howdah.lease_ahead('q', 1, '1 minute', -1)")
