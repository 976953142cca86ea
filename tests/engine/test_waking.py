"""An idle receiver starts as soon as a message is committed.

Where it cannot be told, it finds the message by looking.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from support import Connect, Db, one, stays, wait_until
from waking_receivers_support import receiving, wait_until_awaited

from howdah.engine import Connection, Message, Session
from howdah.engine.aio import connect_async
from howdah.engine.database import waiting as waiting_module
from howdah.engine.database.waiting import Idle


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Threads that receive."""
    with ThreadPoolExecutor(16) as executor:
        yield executor


@pytest.fixture
def connect_own(connect: Connect) -> Db:
    """A connection that the application made itself."""
    return connect()


def test_a_waiting_receive_is_woken_by_a_commit(
    connection: Connection, orders: str, db: Db, threads: ThreadPoolExecutor, rare: set[Idle]
) -> None:
    received = receiving(threads, connection)
    wait_until(lambda: rare)
    one(db, "select howdah.send('orders', 'x')")
    assert [message.body for message in received.result(10)] == ["x"]


def test_a_listener_is_woken_by_a_commit(connection: Connection, orders: str, db: Db, rare: set[Idle]) -> None:
    got: list[object] = []
    session = connection.session()
    session.consumer(orders).listener = lambda message: got.append(message.body)
    for body in ("a", "b"):
        wait_until(lambda: rare)
        one(db, "select howdah.send('orders', %s)", (body,))
        wait_until(lambda body=body: got[-1:] == [body], 10)  # type: ignore[misc]


def test_an_asyncio_receive_is_woken_by_a_commit(dsn: str, orders: str, db: Db, rare: set[Idle]) -> None:
    async def scenario() -> None:
        async with connect_async(dsn) as connection, connection.transaction() as session:
            received = asyncio.create_task(session.receive(orders, wait=20))
            await asyncio.to_thread(wait_until, lambda: rare)
            one(db, "select howdah.send('orders', 'x')")
            assert [message.body for message in await asyncio.wait_for(received, 10)] == ["x"]

    asyncio.run(scenario())


def test_a_waiting_receive_by_a_wildcard_looks_and_asks_nobody(connection: Connection, db: Db) -> None:
    connection.admin.create_queue("JOBS.a")
    assert connection.waking is not None
    wait_until(connection.waking.ready)
    with connection.session() as session:
        session.send("JOBS.a", "sent before")
        assert session.receive("JOBS.>", 5, wait=0.1)[0].body == "sent before"
        assert session.receive("JOBS.*", wait=0.2) == []
        session.commit()
        assert session.consumer("JOBS.>").receive(0.1) is None
        one(db, "select howdah.send('JOBS.a', 'x')")
        assert [message.body for message in session.receive("JOBS.>", wait=5)] == ["x"]


def test_a_waiting_receive_from_a_wildcard_subscription_of_a_client_id_asks_to_be_woken(connection: Connection) -> None:
    connection.admin.create_topic("a.b")
    with connection.session() as session:
        for name in (session.subscriber("a.>", client_id="shop").queue, connection.admin.subscribe("a.>", "s")):
            idle = Idle(connection.waking, lambda: None)
            assert connection.waking is not None
            wait_until(connection.waking.ready)
            for _ in range(10):
                idle.pause()
            assert idle.ask(name) is not None, name


def test_each_of_several_messages_of_one_transaction_finds_a_receiver(
    connection: Connection, orders: str, db: Db, threads: ThreadPoolExecutor, rare: set[Idle]
) -> None:
    received = [receiving(threads, connection) for _ in range(4)]
    wait_until(lambda: len(rare) == 4)
    one(db, "select howdah.send_batch('orders', array['a', 'b', 'c', 'd'])")
    assert sorted(str(one_of.result(10)[0].body) for one_of in received) == ["a", "b", "c", "d"]


def test_one_message_wakes_few_of_many_receivers(
    connection: Connection,
    orders: str,
    db: Db,
    threads: ThreadPoolExecutor,
    rare: set[Idle],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[int] = []
    original = Session.receive_now

    def counted(self: Session, *arguments: Any, **which: Any) -> list[Message]:
        looks.append(1)
        return original(self, *arguments, **which)

    received = [receiving(threads, connection) for _ in range(8)]
    wait_until(lambda: len(rare) == 8)
    monkeypatch.setattr(Session, "receive_now", counted)
    one(db, "select howdah.send('orders', 'a')")
    wait_until(lambda: any(one_of.done() for one_of in received), 10)
    time.sleep(0.3)  # for others that might be woken
    assert len(looks) <= 3
    wait_until(lambda: len(rare) == 7)
    one(db, "select howdah.send_batch('orders', array_agg('b'::text)) from generate_series(1, 7)")
    assert all(one_of.result(10) for one_of in received)


def test_after_a_calm_wait_the_next_one_asks_at_its_second_look_and_keeps_what_was_asked(
    connection: Connection, orders: str, db: Db, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    session = connection.session()
    look, asked = Session.receive_now, Idle.asked

    def looked(self: Session, *arguments: Any, **which: Any) -> list[Message]:
        steps.append("look")
        return look(self, *arguments, **which)

    def noted(self: Idle, *arguments: Any) -> None:
        steps.append("ask")
        asked(self, *arguments)

    def wait() -> list[str]:
        steps.clear()
        assert session.receive(orders, wait=0.2) == []
        return steps[: steps.index("ask") if "ask" in steps else 0]

    # However long this machine takes, what was asked is neither asked again nor forgotten in between.
    for name in ("ASK_EVERY", "ASK_EVERY_UNSETTLED", "ASKED_LASTS"):
        monkeypatch.setattr(waiting_module, name, 600.0)
    calm = threads.submit(session.receive, orders, wait=20)
    wait_until_awaited(db)
    one(db, "select howdah.send('orders', 'x')")
    assert calm.result()
    session.commit()
    monkeypatch.setattr(Session, "receive_now", looked)
    monkeypatch.setattr(Idle, "asked", noted)
    assert wait() == [], "senders still heed what the wait before had asked"
    monkeypatch.setattr(waiting_module, "ASKED_LASTS", 0.0)
    assert wait() == ["look"]


@pytest.mark.slow
def test_a_producer_that_took_long_wakes_at_its_commit(
    connection: Connection, orders: str, db: Db, threads: ThreadPoolExecutor, rare: set[Idle]
) -> None:
    received = receiving(threads, connection)
    wait_until(lambda: rare)
    with db.transaction():
        one(db, "select howdah.send('orders', 'x')")
        time.sleep(3)  # longer than senders heed what was asked
    assert received.result(10)


@pytest.mark.slow
def test_a_producer_that_sent_before_anybody_waited_is_not_forgotten(
    connection: Connection, orders: str, db: Db, threads: ThreadPoolExecutor, rare: set[Idle]
) -> None:
    with db.transaction():
        one(db, "select howdah.send('orders', 'x')")
        received = receiving(threads, connection)
        wait_until_awaited(db)
        time.sleep(1)  # it has asked again and again by then
        assert not received.done()
        assert not rare, "who sent may have done so before it was asked"
    assert received.result(10)


def test_a_session_in_the_callers_own_connection_looks_and_asks_nobody(orders: str, db: Db, connect_own: Db) -> None:
    with ThreadPoolExecutor() as threads:
        received = threads.submit(lambda: Session(connect_own).receive(orders, wait=10))
        asked = "select pg_sequence_last_value(waiting) from howdah.destinations where name = 'orders'"
        stays(lambda: one(db, asked) is None, 0.5)
        one(db, "select howdah.send('orders', 'x')")
        assert received.result(10)
