"""Sessions with acknowledge modes for asyncio: the same promises."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from aio_sessions_support import READY, body, run, send
from support import Db, column, one

from howdah.engine import AckMode, AckType, Prefetch
from howdah.engine import connect as connect_sync
from howdah.engine.aio import AsyncConnection, connect_async
from howdah.engine.errors import BadArgument, IllegalState, TransactionRolledBack


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
