"""Threads and the consumers of one session: what may go on at once, and what may not (decision 15)."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import Db, column, wait_until

from howdah.engine import AckConsumer, AckMode, Connection, Delivery

PATIENCE = 20


def consumed(db: Db) -> list[int]:
    return column(
        db, "select i.id from howdah.journal j, unnest(j.message_ids) i(id) where j.event = 'consumed' order by 1"
    )


@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.DUPS_OK, AckMode.INDIVIDUAL])
def test_consumers_of_one_session_are_asked_by_a_thread_each_and_each_message_goes_to_one(
    connection: Connection, orders: str, db: Db, mode: AckMode
) -> None:
    with connection.session() as session:
        sent = session.send_many(orders, [str(n) for n in range(40)])
        session.commit()
    both = threading.Barrier(2)
    with connection.create_session(mode=mode) as acknowledging, ThreadPoolExecutor() as threads:
        consumers = [acknowledging.consumer(orders, prefetch=4) for _ in range(2)]

        def work(consumer: AckConsumer) -> list[int]:
            got = []
            for _ in range(20):
                message = consumer.receive(PATIENCE)
                assert message is not None
                both.wait(PATIENCE)  # the other thread has one in hand as well
                got.append(message.message_id)
                if mode is AckMode.INDIVIDUAL:
                    message.acknowledge()
            return got

        first, second = threads.map(work, consumers)
    assert sorted(first + second) == sent
    assert consumed(db) == sent


def test_a_receive_that_waits_does_not_hold_up_the_sessions_other_consumer(connection: Connection, orders: str) -> None:
    connection.admin.create_queue("empty")
    with connection.create_session() as session, ThreadPoolExecutor() as threads:
        waits, asks = session.consumer("empty"), session.consumer(orders)
        waiting = threads.submit(waits.receive, PATIENCE)
        for n in range(5):
            connection.send(orders, str(n))
            message = asks.receive(PATIENCE)
            assert message is not None
            assert message.body == str(n)
        assert not waiting.done()
        connection.send("empty", "at last")
        message = waiting.result(PATIENCE)
        assert message is not None
        assert message.body == "at last"


@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.INDIVIDUAL])
def test_listeners_of_one_session_take_turns_and_those_of_two_sessions_work_at_once(
    connection: Connection, orders: str, mode: AckMode
) -> None:
    working, seen = [], []
    gate = threading.Event()

    def listener(message: Delivery) -> None:
        working.append(message.message_id)
        assert gate.wait(PATIENCE)
        message.acknowledge()
        seen.append(message.message_id)

    with connection.create_session(mode=mode) as first, connection.create_session(mode=mode) as second:
        connection.stop()
        sent = [connection.send(orders, str(n)) for n in range(2)]
        for _ in range(2):
            first.consumer(orders, prefetch=1).listener = listener
        connection.start()
        wait_until(lambda: working)
        second.consumer(orders, prefetch=1).listener = listener
        sent.append(connection.send(orders, "2"))
        wait_until(lambda: len(working) == 2)
        assert not gate.wait(0.1)
        assert len(working) == 2, "two sessions, two at work; the first session's other listener waits"
        gate.set()
        wait_until(lambda: sorted(seen) == sent)
