"""What a session asks of its leases in one call: acknowledge several, an interval, renew, give back, deliver again."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest
from support import Clock, Connect, Db, all_refused, column, contents, one, receive, refused, wait_until


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3}')""")


def send(db: Db, number: int, queue: str = "q", **options: Any) -> list[int]:
    names = "".join(f", {name} => %s" for name in options)
    return [one(db, f"select howdah.send(%s, %s{names})", (queue, str(n), *options.values())) for n in range(number)]


def lease(db: Db, n: int, queue: str = "q", seconds: float = 60) -> tuple[int, list[int]]:
    rows = db.execute(
        "select lease, message_id from howdah.lease(%s, %s, %s * interval '1 second')", (queue, n, seconds)
    ).fetchall()
    return rows[0][0], [row[1] for row in rows]


def redeliver(db: Db, leases: list[int], ids: list[int], queue: str = "q") -> list[tuple[int, int, int]]:
    """Lease, message and delivery count of what came again."""
    return db.execute(
        "select lease, message_id, delivery_count from howdah.redeliver(%s, %s, %s, error_class => 'Rollback')",
        (queue, leases, ids),
    ).fetchall()


def consumed(db: Db) -> list[int]:
    return column(
        db, "select i.id from howdah.journal j, unnest(j.message_ids) i(id) where j.event = 'consumed' order by 1"
    )


def test_several_leases_of_several_queues_are_acknowledged_all_or_none(db: Db) -> None:
    one(db, "select howdah.create_queue('r')")
    sent, others = send(db, 4), send(db, 1, "r")
    first, second, third = lease(db, 2)[0], lease(db, 2)[0], lease(db, 1, "r")[0]
    ask = "select howdah.ack_many(%s, %s, %s)"
    before = contents(db)
    refused(db, "HD026", ask, (["q", "q", "r"], [first, second, third + 1], [sent[0], sent[2], others[0]]))
    assert contents(db) == before
    assert one(db, ask, (["q", "q", "r"], [first, second, third], [sent[0], sent[2], others[0]])) == 3
    assert consumed(db) == sorted([sent[0], sent[2], others[0]])
    refused(db, "HD026", ask, (["q", "q"], [first, second], [sent[0], sent[3]]))
    assert one(db, ask, ([], [], [])) == 0


def test_an_interval_is_what_these_leases_hold_between_two_messages_in_the_order_of_delivery(
    db: Db, connect: Connect
) -> None:
    sent = send(db, 8)
    mine, _ = lease(db, 3)
    other = connect()
    theirs, _ = lease(other, 2)
    more, _ = lease(db, 3)
    ask = "select howdah.ack_interval('q', %s, %s, %s)"
    refused(db, "HD005", ask, ([mine, more], sent[6], sent[1]))
    refused(db, "HD026", ask, ([mine, more], sent[1], sent[4]))
    assert one(db, ask, ([mine, more], sent[1], sent[6])) == 4
    assert consumed(db) == [sent[n] for n in (1, 2, 5, 6)]
    refused(db, "HD026", ask, ([mine, more], sent[1], sent[7]))
    assert one(other, ask, ([theirs], sent[3], sent[4])) == 2
    assert one(db, ask, ([mine, more], sent[0], sent[7])) == 2


def test_an_interval_goes_by_priority_within_a_lease(db: Db) -> None:
    low, high = send(db, 1, priority=1), send(db, 2, priority=9)
    number, held = lease(db, 3)
    assert held == high + low
    assert one(db, "select howdah.ack_interval('q', %s, %s, %s)", ([number], high[1], low[0])) == 2
    assert consumed(db) == sorted([high[1], low[0]])


def test_an_interval_of_a_subscription(db: Db) -> None:
    one(db, "select howdah.create_topic('t')")
    name = one(db, "select howdah.subscribe('t', 's')")
    sent = send(db, 4, "t")
    number, held = lease(db, 4, name)
    assert held == sent
    assert one(db, "select howdah.ack_interval(%s, %s, %s, %s)", (name, [number], sent[1], sent[2])) == 2
    assert one(db, "select howdah.ack(%s, %s)", (name, number)) == 2


def test_renewing_says_which_leases_there_still_are(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_queue('r')")
    send(db, 3)
    send(db, 1, "r")
    first, second, third = lease(db, 1)[0], lease(db, 2)[0], lease(db, 1, "r")[0]
    one(db, "select howdah.ack('q', %s)", (first,))
    clock.advance(50)
    renew = "select howdah.renew_leases(%s, %s, interval '1 minute')"
    assert column(db, renew, (["q", "q", "r"], [first, second, third])) == [second, third]
    clock.advance(50)
    assert receive(db, "q", n=9) == []
    assert receive(db, "r") == []
    clock.advance(11)
    assert len(receive(db, "q", n=9)) == 2
    assert column(db, renew, (["q", "q", "r"], [first, second, third])) == [third]


def test_a_queue_that_is_gone_or_closed_to_the_caller_keeps_no_other_lease_from_being_renewed(
    db: Db, connect: Connect
) -> None:
    for name in ("r", "s"):
        one(db, "select howdah.create_queue(%s)", (name,))
    consumer = connect("howdah_consumer")
    leases = []
    for name in ("q", "r", "s"):
        send(db, 1, name)
        leases.append(lease(consumer, 1, name)[0])
    one(db, "select howdah.drop_queue('q', force => true)")
    one(db, "select howdah.revoke_queue('r', 'receive', 'howdah_consumer')")
    assert column(consumer, "select howdah.renew_leases('{q,r,s}', %s)", (leases,)) == leases[2:]


def test_renewing_passes_by_what_is_just_being_acknowledged(db: Db, connect: Connect) -> None:
    sent = send(db, 2)
    number, _ = lease(db, 2)
    other = connect()
    with other.transaction():
        one(other, "select howdah.ack('q', %s, %s)", (number, sent[:1]))
        db.execute("set statement_timeout = '20s'")
        assert column(db, "select howdah.renew_leases('{q}', %s)", ([number],)) == [number]
    assert consumed(db) == sent[:1]


def test_renewing_and_acknowledging_at_once_do_not_lose_a_message(db: Db, connect: Connect) -> None:
    sent = send(db, 3)
    number, _ = lease(db, 3)
    other, waiting = connect(), connect()
    done: list[int] = []
    blocked = "select cardinality(pg_blocking_pids(%s)) > 0"
    for ids in (sent[:1], None):
        with other.transaction():
            assert column(other, "select howdah.renew_leases('{q}', %s)", ([number],)) == [number]

            def acknowledge(ids: list[int] | None = ids) -> None:
                done.append(one(waiting, "select howdah.ack('q', %s, %s)", (number, ids)))

            thread = threading.Thread(target=acknowledge)
            thread.start()

            def waits(thread: threading.Thread = thread) -> bool:
                return not thread.is_alive() or bool(one(db, blocked, (waiting.info.backend_pid,)))

            wait_until(waits)
        thread.join()
    assert done == [1, 2]
    assert consumed(db) == sent


def test_the_end_of_leases_blames_what_was_delivered_and_nothing_else(db: Db, clock: Clock) -> None:
    sent = send(db, 4)
    first, second = lease(db, 2)[0], lease(db, 2)[0]
    clock.advance(61)
    (taken,) = receive(db, "q")
    assert taken.message_id == sent[0]
    ended = db.execute(
        "select message_id, attempt, outcome from howdah.end_leases('q', %s, %s, 'gone', 'SessionClosed')",
        ([first, second], [sent[0], sent[2]]),
    ).fetchall()
    assert ended == [(sent[2], 1, "returned")], "the first one was lost before"
    assert [(m.message_id, m.delivery_count) for m in receive(db, "q", n=9)] == [
        (sent[1], 1),
        (sent[2], 2),
        (sent[3], 1),
    ]
    assert one(db, "select count(*) from howdah.end_leases('q', %s)", ([first, second],)) == 0


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


def test_a_slow_consumer_is_reported_to_administrators(db: Db) -> None:
    one(db, "select howdah.report_slow_consumer('q', '{\"prefetch\": 100}')")
    one(db, """select howdah.alter_queue('q', '{"notify_admin": true}')""")
    one(db, "select howdah.report_slow_consumer('q', '{\"prefetch\": 100}')")
    event = one(db, "select body::jsonb - 'at' from howdah.browse('_SYSTEM.Advisory')")
    assert event == {"event": "SLOW_CONSUMER", "queue": "q", "prefetch": 100}


def test_what_is_wrong_is_refused_before_anything_is_written(db: Db) -> None:
    sent = send(db, 1)
    number, _ = lease(db, 1)
    all_refused(
        db,
        [
            ("HD005", f"select howdah.ack_many('{{q}}', '{{{number}}}', '{{}}')"),
            ("HD005", f"select howdah.ack_many('{{q}}', null, '{{{sent[0]}}}')"),
            ("HD001", f"select howdah.ack_many('{{nosuch}}', '{{{number}}}', '{{{sent[0]}}}')"),
            ("HD026", f"select howdah.ack_interval('q', null, {sent[0]}, {sent[0]})"),
            ("HD026", f"select howdah.ack_interval('q', '{{{number}}}', null, {sent[0]})"),
            ("HD005", f"select howdah.renew_leases('{{q}}', '{{{number}}}', '0 seconds')"),
            ("HD005", f"select howdah.renew_leases('{{q,q}}', '{{{number}}}')"),
            ("HD001", f"select howdah.end_leases('nosuch', '{{{number}}}')"),
            ("HD005", f"select howdah.redeliver('q', '{{{number}}}', '{{{sent[0]}}}', '8 days')"),
            ("HD001", f"select howdah.redeliver('nosuch', '{{{number}}}', '{{{sent[0]}}}')"),
            ("HD005", "select howdah.report_slow_consumer('q', '[]')"),
            ("HD001", "select howdah.report_slow_consumer('nosuch')"),
        ],
    )


def test_who_may_not_receive_may_do_none_of_it(db: Db, connect: Connect) -> None:
    producer, consumer = connect("howdah_producer"), connect("howdah_consumer")
    (sent,) = send(db, 1)
    number, _ = lease(consumer, 1)
    calls = [
        f"ack_many('{{q}}', '{{{number}}}', '{{{sent}}}')",
        f"ack_interval('q', '{{{number}}}', {sent}, {sent})",
        f"renew_leases('{{q}}', '{{{number}}}')",
        f"end_leases('q', '{{{number}}}')",
        f"redeliver('q', '{{{number}}}', '{{{sent}}}')",
        "report_slow_consumer('q')",
    ]
    for call in calls:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            producer.execute(f"select howdah.{call}".encode())
    for call in calls[2:]:
        consumer.execute(f"select howdah.{call}".encode())


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
