"""What a session asks of its leases in one call: acknowledge several, an interval, renew, give back."""

from __future__ import annotations

import threading

import psycopg
import pytest
from session_leases_support import lease, send
from support import Clock, Connect, Db, all_refused, column, contents, one, receive, refused, wait_until


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3}')""")


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
