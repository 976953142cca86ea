"""The prefetch decides how consumers share a queue's messages among them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from ahead_support import READY, ids, send, take, vanish
from support import Clock, Db, column, one

from howdah.engine import AckMode, Connection, connect


@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.CLIENT, AckMode.INDIVIDUAL])
@pytest.mark.behaviour("AMQ-76")
def test_without_prefetch_each_receive_takes_one_and_leaves_the_rest(
    connection: Connection, orders: str, mode: AckMode
) -> None:
    sent = send(connection, orders, 4)
    with connection.jms_session(mode=mode) as session, connection.jms_session(mode=mode) as other:
        pull, another = session.consumer(orders, prefetch=0), other.consumer(orders, prefetch=0)
        assert ids(take(pull, 1) + take(another, 2) + take(pull, 1)) == sent
        assert pull.receive(0) is None


@pytest.mark.behaviour("IMQ-14")
def test_fifty_consumers_share_four_database_connections(dsn: str, orders: str, db: Db) -> None:
    backends = (
        "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        " and backend_type = 'client backend'"
    )
    before = one(db, backends)
    with connect(dsn, max_size=4) as connection, ExitStack() as stack:
        sent = send(connection, orders, 50)
        sessions = [stack.enter_context(connection.jms_session(mode=AckMode.CLIENT)) for _ in range(50)]
        consumers = [session.consumer(orders, prefetch=0) for session in sessions]
        with ThreadPoolExecutor(50) as threads:
            received = list(threads.map(lambda consumer: take(consumer, 1)[0].message_id, consumers))
        assert sorted(received) == sent
        assert one(db, backends) - before <= 5, "four, and one that listens"
        for session in sessions:
            session.acknowledge()
    assert len(column(db, READY)) == 0


@pytest.mark.behaviour("AMQ-94")
@pytest.mark.behaviour("AMQ-95")
def test_a_client_that_acknowledges_nothing_stalls_and_others_get_the_rest(
    connection: Connection, orders: str, db: Db
) -> None:
    connection.admin.alter_queue(orders, notify_admin=True)
    sent = send(connection, orders, 200)
    with connection.jms_session(mode=AckMode.CLIENT) as session, connection.jms_session() as other:
        consumer = session.consumer(orders, prefetch=100)
        assert len(take(consumer, 150)) == 150
        assert not consumer.slow
        assert consumer.receive(0.05) is None
        assert consumer.receive(0.05) is None
        assert consumer.slow
        assert column(db, "select body::json ->> 'event' from howdah.browse('_SYSTEM.Advisory')") == ["SLOW_CONSUMER"]
        facts = one(db, "select body::json ->> 'unacknowledged' from howdah.browse('_SYSTEM.Advisory')")
        assert facts == "150"
        assert ids(take(other.consumer(orders), 50)) == sent[150:]
        connection.send(orders, "later")
        session.acknowledge()
        assert not consumer.slow
        assert consumer.receive(5) is not None


def shared_out(
    connection: Connection, queue: str, prefetch: int, paces: list[int], arrivals: list[int]
) -> tuple[list[int], int]:
    """How many messages each consumer handled, and in how many ticks of a clock that only the test moves on.

    Consumer n is done with a message after paces[n] ticks and asks then; arrivals[t] messages are sent at tick t.
    """
    sessions = [connection.jms_session() for _ in paces]
    consumers = [session.consumer(queue, prefetch=prefetch) for session in sessions]
    counts, free_at, tick = [0] * len(paces), [0] * len(paces), 0
    while sum(counts) < sum(arrivals):
        send(connection, queue, arrivals[tick] if tick < len(arrivals) else 0)
        for number, consumer in enumerate(consumers):
            if free_at[number] <= tick and consumer.receive_nowait() is not None:
                counts[number] += 1
                free_at[number] = tick + paces[number]
        tick += 1
    for session in sessions:
        session.close()
    return counts, tick


@pytest.mark.behaviour("AMQ-120")
def test_a_prefetch_of_one_gives_four_equal_consumers_a_quarter_each(connection: Connection, orders: str) -> None:
    counts, _ = shared_out(connection, orders, 1, [1] * 4, [400])
    assert all(90 <= count <= 110 for count in counts), counts
    assert connection.admin.queue_stats(orders)[0]["live"] == 0


@pytest.mark.behaviour("AMQ-120")
def test_a_large_prefetch_gives_all_messages_to_the_first(connection: Connection, orders: str) -> None:
    assert shared_out(connection, orders, 1000, [1] * 4, [60]) == ([60, 0, 0, 0], 60)


@pytest.mark.slow
@pytest.mark.behaviour("AMQ-120")
def test_a_slow_consumer_with_a_small_prefetch_leaves_the_messages_to_the_fast_ones(
    connection: Connection, orders: str
) -> None:
    assert shared_out(connection, orders, 1, [9, 1, 1, 1], [56]) == ([2, 18, 18, 18], 18)
    assert shared_out(connection, orders, 14, [9, 1, 1, 1], [56]) == ([14, 14, 14, 14], 118)


@pytest.mark.behaviour("AMQ-120")
def test_of_a_slow_producer_a_moderate_prefetch_gives_every_consumer_work_and_a_large_one_does_not(
    connection: Connection, orders: str
) -> None:
    slow_producer = [8, 0, 0] * 4
    assert shared_out(connection, orders, 2, [1] * 4, slow_producer) == ([8, 8, 8, 8], 11)
    assert shared_out(connection, orders, 1000, [1] * 4, slow_producer) == ([16, 8, 8, 0], 17)


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-120")
@pytest.mark.parametrize(("prefetch", "optimized"), [(1, False), (100, True)])
def test_no_handled_message_comes_again_with_a_prefetch_of_one_and_no_optimised_acknowledgement(
    dsn: str, connection: Connection, orders: str, clock: Clock, prefetch: int, optimized: bool
) -> None:
    sent = send(connection, orders, 10)
    vanish(dsn, lambda session: take(session.consumer(orders, prefetch=prefetch, optimize_acknowledge=optimized), 5))
    clock.advance(61)
    with connection.jms_session() as session:
        again = take(session.consumer(orders), 10 if optimized else 5)
        assert ids(again) == (sent if optimized else sent[5:])
        assert any(message.redelivered for message in again) is optimized
