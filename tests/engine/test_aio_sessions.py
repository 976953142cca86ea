"""Sessions with acknowledge modes for asyncio: the same promises, and what a cancelled task leaves behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from support import Db, column, one, wait_until

from howdah.engine import AckMode, AckType, Delivery, Prefetch
from howdah.engine import connect as connect_sync
from howdah.engine.aio import AsyncConnection, connect_async
from howdah.engine.errors import BadArgument, IllegalState, TransactionRolledBack

READY = "select body from howdah.browse('orders', 100)"


def run(dsn: str, scenario: Callable[[AsyncConnection], Awaitable[None]], **options: Any) -> None:
    async def whole() -> None:
        async with connect_async(dsn, **options) as connection:
            await scenario(connection)

    asyncio.run(asyncio.wait_for(whole(), 30))


def body(message: Delivery | None) -> str | bytes | None:
    return None if message is None else message.body


def send(db: Db, *bodies: str) -> None:
    one(db, "select howdah.send_batch('orders', %s::text[])", (list(bodies),))


def test_the_mode_decides_when_a_message_is_consumed(dsn: str, db: Db, orders: str) -> None:
    send(db, "a", "b", "c", "d")

    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.jms_session() as session:
            assert session.mode is AckMode.AUTO
            consumer = await session.consumer(orders, prefetch=1)
            assert body(await consumer.receive(5)) == "a"
        async with await connection.jms_session(mode=AckMode.CLIENT) as session:
            consumer = await session.consumer(orders, prefetch=2)
            assert [body(await consumer.receive(5)), body(await consumer.receive(5))] == ["b", "c"]
            await session.recover()
            again = await consumer.receive(5)
            assert again is not None
            assert (again.body, again.delivery_count) == ("b", 2)
            await session.acknowledge()
            assert session.acks[AckType.STANDARD] == 1
        async with await connection.jms_session(mode=AckMode.INDIVIDUAL) as session:
            consumer = await session.consumer(orders, prefetch=2)
            first, second = await consumer.receive(5), await consumer.receive(5)
            assert (body(first), body(second)) == ("c", "d")
            await session.acknowledge(second)

    run(dsn, scenario)
    assert column(db, READY) == ["c"]


def test_a_transacted_session_consumes_sends_and_writes_together(dsn: str, db: Db, orders: str) -> None:
    db.execute("create table written (n integer primary key deferrable initially deferred)")
    send(db, "a", "b")

    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.jms_session(transacted=True) as session:
            consumer = await session.consumer(orders, prefetch=1)
            for attempt in (1, 2):
                message = await consumer.receive(5)
                assert message is not None
                assert (message.body, message.delivery_count) == ("a", attempt)
                await session.send(orders, "answer")
                await session.in_transaction(lambda own: own.execute("insert into written values (1)"))
                await (session.rollback() if attempt == 1 else session.commit())
            assert body(await consumer.receive(5)) == "b"
            await session.in_transaction(lambda own: own.execute("insert into written values (1)"))
            with pytest.raises(TransactionRolledBack):
                await session.commit()
            await session.rollback()

    run(dsn, scenario)
    assert column(db, "select n from written") == [1]
    assert column(db, READY) == ["b", "answer"]


def test_a_receive_waits_without_holding_up_the_loop_until_a_message_comes(dsn: str, db: Db, orders: str) -> None:
    async def scenario(connection: AsyncConnection) -> None:
        sessions = [await connection.jms_session() for _ in range(3)]
        consumers = [await session.consumer(orders, prefetch=1) for session in sessions]
        waiting = [asyncio.create_task(consumer.receive(20)) for consumer in consumers]
        for _ in range(5):
            await asyncio.sleep(0.01)  # the loop goes on meanwhile
        send(db, "a", "b", "c")
        assert sorted(str(body(message)) for message in await asyncio.gather(*waiting)) == ["a", "b", "c"]
        for session in sessions:
            await session.close()

    run(dsn, scenario)
    assert column(db, READY) == []


def test_messages_can_be_gone_through_until_the_session_is_closed(dsn: str, db: Db, orders: str) -> None:
    send(db, *"abc")

    async def scenario(connection: AsyncConnection) -> None:
        session = await connection.jms_session()
        consumer = await session.consumer(orders)
        seen = []

        async def work() -> None:
            async for message in consumer:
                seen.append(message.body)

        task = asyncio.create_task(work())
        while len(seen) < 3:
            await asyncio.sleep(0.005)
        await session.close()
        await task
        assert seen == ["a", "b", "c"]
        with pytest.raises(IllegalState):
            await consumer.receive(0)
        await session.close()

    run(dsn, scenario)


def test_going_through_messages_ends_when_the_session_is_closed_under_it(
    dsn: str, db: Db, orders: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the look whether it is closed, and before the receive."""

    async def scenario(connection: AsyncConnection) -> None:
        session = await connection.jms_session()
        consumer = await session.consumer(orders)

        def close_first() -> None:
            monkeypatch.undo()
            session._session.close()
            consumer._consumer.receive_nowait()

        monkeypatch.setattr(consumer, "_receive", lambda given_up, timeout: close_first())
        assert [message async for message in consumer] == []

    run(dsn, scenario)


def test_a_thread_goes_through_messages_until_another_closes_the_session(dsn: str, db: Db, orders: str) -> None:
    send(db, *"abc")
    with connect_sync(dsn) as connection:
        session = connection.jms_session()
        messages = iter(session.consumer(orders))
        assert next(messages).body == "a"
        session.close()
        assert list(messages) == []


@pytest.mark.first_case
@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.CLIENT])
def test_a_cancelled_receive_loses_no_message_and_changes_no_order(
    dsn: str, db: Db, orders: str, mode: AckMode
) -> None:
    bodies = [str(n) for n in range(60)]
    send(db, *bodies)

    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.jms_session(mode=mode) as session:
            consumer = await session.consumer(orders, prefetch=5 if mode is AckMode.AUTO else 100)
            seen: list[str | bytes | None] = []
            pause = 0.0
            while len(seen) < len(bodies):
                task = asyncio.create_task(consumer.receive(5))
                await asyncio.sleep(pause)
                pause = (pause + 0.0007) % 0.005
                if task.cancel():
                    with pytest.raises(asyncio.CancelledError):
                        await task
                elif (message := task.result()) is not None:
                    seen.append(message.body)
                kept = await consumer.receive(0)
                if kept is not None:
                    seen.append(kept.body)
            assert seen == bodies
            await session.acknowledge()

    run(dsn, scenario)
    assert column(db, READY) == []


def test_cancelling_a_long_receive_frees_the_session_at_once(dsn: str, db: Db, orders: str) -> None:
    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.jms_session() as session:
            consumer = await session.consumer(orders)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(consumer.receive(), 0.05)
            assert await asyncio.wait_for(session.send(orders, "x"), 5) > 0
            assert body(await consumer.receive(5)) == "x"

    run(dsn, scenario)


def test_prefetch_and_groups_are_as_in_other_sessions(dsn: str, db: Db) -> None:
    one(db, """select howdah.create_queue('orders', '{"delivery_policy": "failover"}')""")
    send(db, *"abcd")

    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.jms_session(mode=AckMode.CLIENT) as session:
            consumer = await session.consumer("orders")
            first = await consumer.receive(5)
            second = await consumer.receive(5)
            assert (body(first), body(second)) == ("a", "b")
            assert first is not None
            assert second is not None
            assert one(db, "select sum(messages) from howdah.list_leases('orders')") == 4, (
                "three, and one as half of them are delivered"
            )
            assert len(column(db, "select consumer from howdah.list_consumers('orders')")) == 1
            assert await consumer.acknowledge_interval(first, first) == 1
            await consumer.acknowledge()
            await consumer.close()
            assert column(db, "select consumer from howdah.list_consumers('orders')") == []

    run(dsn, scenario, prefetch=Prefetch(queue=3))
    assert column(db, "select body from howdah.browse('orders')") == ["c", "d"]


def test_wrong_settings_are_refused(dsn: str, orders: str) -> None:
    async def scenario(connection: AsyncConnection) -> None:
        for wrong in ({"mode": 7}, {"mode": AckMode.SESSION_TRANSACTED}):
            with pytest.raises(BadArgument):
                await connection.jms_session(**wrong)
        async with await connection.jms_session() as session:
            with pytest.raises(BadArgument):
                await session.consumer(orders, prefetch=-1)
            with pytest.raises(IllegalState):
                await session.commit()
        with pytest.raises(IllegalState):
            await AsyncConnection(connection.pool).jms_session()

    run(dsn, scenario)
    with pytest.raises(BadArgument):
        run(dsn, scenario, lease_duration=0)


def test_closing_the_connection_closes_its_sessions(dsn: str, db: Db, orders: str) -> None:
    send(db, "a", "b")

    async def whole() -> None:
        async with connect_async(dsn) as connection:
            session = await connection.jms_session(mode=AckMode.CLIENT)
            consumer = await session.consumer(orders)
            assert body(await consumer.receive(5)) == "a"
            waiting = asyncio.create_task((await session.consumer(orders)).receive())
        with suppress(IllegalState):  # where the connection was closed before it had begun to wait
            assert await waiting is None
        assert session.closed

    asyncio.run(asyncio.wait_for(whole(), 30))
    assert column(db, READY) == ["a", "b"]


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_what_a_cancelled_receive_got_is_no_part_of_the_transaction_that_ends_before_anybody_saw_it(
    dsn: str, db: Db, orders: str, end: str
) -> None:
    send(db, "seen", "unseen", "last")

    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.jms_session(transacted=True) as session:
            consumer = await session.consumer(orders)
            assert body(await consumer.receive(5)) == "seen"
            # as a cancellation does that comes while the statement is under way
            future = session.submit(lambda: consumer._receive(threading.Event(), 5))
            await asyncio.wrap_future(future)
            consumer._keep(future)
            await getattr(session, end)()
            assert one(db, "select consumed from howdah.queue_stats('orders')") == (1 if end == "commit" else 0)
            assert column(db, "select count(*) from howdah.incidents()") == [0 if end == "commit" else 1]
            expected = ["unseen", "last"] if end == "commit" else ["seen", "unseen", "last"]
            assert [body(await consumer.receive(5)) for _ in expected] == expected
            await session.commit()

    run(dsn, scenario)
    assert one(db, "select consumed from howdah.queue_stats('orders')") == 3


@pytest.mark.parametrize("whose", ["its own task", "all tasks"])
def test_a_session_that_is_cancelled_while_it_opens_is_closed(dsn: str, db: Db, orders: str, whose: str) -> None:
    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.jms_session():
            pass
        owner = connection._thread_connection
        assert owner is not None
        made, go_on, opening = [], threading.Event(), threading.Event()
        usual = owner.jms_session

        def slow(**options: Any) -> Any:
            opening.set()
            go_on.wait(10)
            made.append(usual(**options))
            return made[0]

        owner.jms_session = slow  # type: ignore[method-assign]
        others = asyncio.all_tasks()
        task = asyncio.create_task(connection.jms_session())
        await asyncio.to_thread(opening.wait, 10)
        for cancelled in [task] if whose == "its own task" else asyncio.all_tasks() - others:
            cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()
        await asyncio.to_thread(wait_until, lambda: made and made[0].closed)

    run(dsn, scenario)


def test_a_receive_that_is_cancelled_when_its_session_is_closed_says_that_it_was_cancelled(
    dsn: str, db: Db, orders: str
) -> None:
    send(db, "a")

    async def scenario(connection: AsyncConnection) -> None:
        session = await connection.jms_session()
        consumer = await session.consumer(orders)
        usual, given = session.submit, []

        def submit(work: Callable[[], Any]) -> Any:
            given.append(usual(work))
            return given[-1]

        session.submit = submit  # type: ignore[method-assign]
        task = asyncio.create_task(consumer.receive(5))
        await asyncio.sleep(0)
        given[0].result(10)  # the thread is done, and the loop does not know it yet
        session._close()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(dsn, scenario)
