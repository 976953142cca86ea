"""Threads and the consumers of one session: what may go on at once, and what may not (decision 15)."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from ack_support import consumed
from support import Db, wait_until

from howdah.engine import AckConsumer, AckMode, Connection, Delivery

PATIENCE = 20


@pytest.mark.first_case
@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.DUPS_OK, AckMode.INDIVIDUAL])
def test_consumers_of_one_session_are_asked_by_a_thread_each_and_each_message_goes_to_one(
    connection: Connection, orders: str, db: Db, mode: AckMode
) -> None:
    with connection.session() as session:
        sent = session.send_many(orders, [str(n) for n in range(40)])
        session.commit()
    both = threading.Barrier(2)
    with connection.jms_session(mode=mode) as acknowledging, ThreadPoolExecutor() as threads:
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


@pytest.mark.slow
@pytest.mark.parametrize("who", ["consumer", "session", "message", "nobody"])
def test_where_the_client_acknowledges_a_consumer_settles_its_own_and_the_session_what_all_threads_have_in_hand(
    connection: Connection, orders: str, db: Db, who: str
) -> None:
    with connection.session() as session:
        sent = session.send_many(
            orders, [str(n) for n in range(8)]
        )  # both are left two, however many one asks for ahead
        session.commit()
    both = threading.Barrier(2)
    with connection.jms_session(mode=AckMode.CLIENT) as acknowledging, ThreadPoolExecutor() as threads:
        consumers = [acknowledging.consumer(orders, prefetch=2) for _ in range(2)]

        def work(consumer: AckConsumer) -> list[int]:
            got: list[Delivery] = []
            for _ in range(2):
                message = consumer.receive(PATIENCE)
                assert message is not None
                got.append(message)
            both.wait(PATIENCE)  # each thread has two in hand
            if consumer is consumers[0]:
                if who == "consumer":
                    consumer.acknowledge()
                elif who == "session":
                    acknowledging.acknowledge()
                elif who == "message":
                    got[0].acknowledge()
            both.wait(PATIENCE)
            return [message.message_id for message in got]

        mine, others = threads.map(work, consumers)
        in_hand = sorted(mine + others)
        settled = {"consumer": sorted(mine), "nobody": []}.get(who, in_hand)
        assert consumed(db) == settled
        acknowledging.recover()
        again = []
        for consumer in consumers:
            for message in iter(partial(consumer.receive, 0.5), None):
                again.append(message)
                consumer.acknowledge()  # else it has all that it may have unacknowledged
        assert sorted(message.message_id for message in again) == sorted(set(sent) - set(settled))
        taken_back = {message.message_id for message in again if message.redelivered}
        assert taken_back >= set(in_hand) - set(settled), "recover takes back what any thread had"


def test_a_receive_that_waits_does_not_hold_up_the_sessions_other_consumer(connection: Connection, orders: str) -> None:
    connection.admin.create_queue("empty")
    with connection.jms_session() as session, ThreadPoolExecutor() as threads:
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


@pytest.mark.first_case
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

    with connection.jms_session(mode=mode) as first, connection.jms_session(mode=mode) as second:
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
