"""The verbs for asyncio, over psycopg."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import suppress

import psycopg
import pytest
from support import Db, column, one, until

from howdah.engine import Message
from howdah.engine.aio import AsyncRequestor, AsyncSession, connect_async
from howdah.engine.database.waiting import Idle
from howdah.engine.errors import (
    BadArgument,
    CannotConnect,
    ConnectionLost,
    IllegalState,
    NoSuchQueue,
    QueueExists,
    TransactionRolledBack,
)


def test_business_row_and_message_commit_together(dsn: str, db: Db, orders: str) -> None:
    db.execute("create table account (balance integer)")

    async def scenario() -> None:
        async with await psycopg.AsyncConnection.connect(dsn) as own:
            session = AsyncSession(own)
            await own.execute("insert into account values (1)")
            sent = await session.send(orders, {"n": 1})
            assert column(db, "select message_id from howdah.browse(%s)", (orders,)) == []
            await own.commit()
            assert [m.message_id for m in await session.receive(orders)] == [sent]
            await own.execute("update account set balance = 2")
            await own.rollback()
            (message,) = await session.browse(orders)
            assert message.data == {"n": 1}
        assert one(db, "select balance from account") == 1

    asyncio.run(scenario())


@pytest.mark.slow
def test_a_connection_commits_or_rolls_back_its_blocks(dsn: str, db: Db) -> None:
    async def overlook(session: AsyncSession) -> None:
        with pytest.raises(NoSuchQueue):
            await session.send("nowhere", "x")

    async def fail(session: AsyncSession) -> None:
        await session.send("orders", "undone")
        raise ZeroDivisionError

    async def scenario() -> None:
        async with connect_async(dsn) as connection:
            await connection.admin.create_queue("orders", max_failed_deliveries=2)
            with pytest.raises(QueueExists):
                await connection.admin.create_queue("orders")
            await connection.send("orders", "first")
            with pytest.raises(ZeroDivisionError):
                async with connection.transaction() as session:
                    await fail(session)
            with pytest.raises(TransactionRolledBack):
                async with connection.transaction() as session:
                    await overlook(session)
            async with connection.transaction() as session:
                assert [m.body for m in await session.receive("orders", 5)] == ["first"]
                began = time.monotonic()
                assert await session.receive("orders", wait=0.2) == []
                assert 0.2 <= time.monotonic() - began < 20
            (stats,) = await connection.admin.queue_stats("orders")
            assert (stats["live"], stats["consumed"]) == (0, 1)
        with pytest.raises(IllegalState):
            await connection.send("orders", "x")

    asyncio.run(scenario())


@pytest.mark.slow
def test_a_waiting_receive_gets_a_message_sent_meanwhile_and_can_be_cancelled(
    dsn: str, orders: str, rare: set[Idle]
) -> None:
    async def scenario() -> None:
        async with connect_async(dsn, max_size=2) as connection:
            async with connection.transaction() as session:
                waiting = asyncio.create_task(session.receive(orders, wait=10))
                await until(lambda: rare)
                sent = await connection.send(orders, "x")
                assert [m.message_id for m in await waiting] == [sent]

            async def receive_for_ever() -> None:
                async with connection.transaction() as session:
                    await session.receive(orders, wait=60)

            task = asyncio.create_task(receive_for_ever())
            await until(lambda: rare)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await connection.send(orders, "y") > sent

    asyncio.run(scenario())


@pytest.mark.slow
def test_lost_connections_and_ones_that_cannot_be_had(dsn: str, db: Db, orders: str, dead_port: int) -> None:
    async def lose(session: AsyncSession) -> None:
        await session.send(orders, "x")
        db.execute("select pg_terminate_backend(%s, 5000)", (session.connection.info.backend_pid,))

    async def scenario() -> None:
        async with connect_async(dsn, max_size=1, timeout=1) as connection:
            with pytest.raises(ConnectionLost):
                async with connection.transaction() as session:
                    await lose(session)
            await connection.send(orders, "y")
            async with connection.transaction():
                with pytest.raises(CannotConnect):
                    await connection.send(orders, "z")
        for dsn_of_none in (f"host=127.0.0.1 port={dead_port}", "nonsense"):
            with pytest.raises(CannotConnect):
                async with connect_async(dsn_of_none):
                    pass
        with pytest.raises(BadArgument):
            async with connect_async(dsn, min_size=1, max_size=1):
                pass

    asyncio.run(scenario())
    assert column(db, "select body from howdah.browse(%s)", (orders,)) == ["y"]


def test_the_verbs_of_schedules_are_awaited(dsn: str, orders: str) -> None:
    async def scenario() -> None:
        async with connect_async(dsn, max_size=1) as connection:
            number = await connection.schedules.add(orders, "x", period=60)
            assert [row["schedule_id"] for row in await connection.schedules.list(orders)] == [number]
            assert await connection.schedules.pause(number)
            delayed = await connection.send(orders, "y", delay=60)
            assert [row["message_id"] for row in await connection.schedules.delayed(orders)] == [delayed]
            assert await connection.schedules.cancel_delayed(orders, [delayed]) == 1
            assert await connection.schedules.cancel_all(orders) == 1

    asyncio.run(scenario())


def test_the_end_of_a_block_whose_statement_failed_says_that_all_is_undone(dsn: str, db: Db, orders: str) -> None:
    async def overlook(session: AsyncSession) -> None:
        await session.send("orders", "lost")
        with pytest.raises(psycopg.errors.DivisionByZero):
            await session.connection.execute("select 1 / 0")

    async def scenario() -> None:
        async with connect_async(dsn) as connection:
            with pytest.raises(TransactionRolledBack):
                async with connection.transaction() as session:
                    await overlook(session)
            async with await connection.session() as session:
                await overlook(session)
                with pytest.raises(TransactionRolledBack):
                    await session.commit()

    asyncio.run(scenario())
    assert column(db, "select body from howdah.browse('orders')") == []


@pytest.mark.parametrize("how", ["cancelled", "exit"])
def test_a_listener_that_ends_by_no_exception_ends_no_session(dsn: str, db: Db, orders: str, how: str) -> None:
    handled: list[object] = []

    async def listener(message: Message) -> None:
        handled.append(message.body)
        if message.body == "bad" and how == "cancelled":
            task = asyncio.create_task(asyncio.sleep(60))
            task.cancel()
            await task
        elif message.body == "bad":
            sys.exit(3)

    async def scenario() -> None:
        async with connect_async(dsn) as connection:
            await connection.admin.alter_queue("orders", max_failed_deliveries=1)
            await connection.send("orders", "bad")
            await connection.send("orders", "good")
            async with await connection.session() as session:
                await session.listen("orders", listener)
                async with asyncio.timeout(20):
                    while "good" not in handled:
                        await asyncio.sleep(0.01)

    asyncio.run(scenario())
    assert handled == ["bad", "good"]
    assert column(db, "select error_class from howdah.incidents()") == [
        {"cancelled": "CancelledError", "exit": "SystemExit"}[how]
    ]


def test_a_first_request_that_is_cancelled_leaves_one_temporary_queue_for_the_next(dsn: str, db: Db) -> None:
    async def scenario() -> None:
        async with connect_async(dsn) as connection, AsyncRequestor(connection, "orders") as requestor:
            for _ in range(5):
                task = asyncio.create_task(requestor.open())
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            name = await requestor.open()
            assert column(db, "select name from howdah.destinations where name ^@ '_TEMP.' and dropped_at is null") == [
                name
            ]

    asyncio.run(scenario())


def test_a_session_that_is_cancelled_while_it_closes_gives_its_connection_back(dsn: str, orders: str) -> None:
    async def scenario() -> None:
        async with connect_async(dsn, max_size=1) as connection:
            for steps in range(1, 12):  # before its first step there is no close
                session = await connection.session()
                await session.send("orders", "x")
                task = asyncio.create_task(session.close())
                for _ in range(steps):
                    await asyncio.sleep(0)
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            async with asyncio.timeout(10):
                async with await connection.session() as session:
                    assert await session.browse("orders") == []

    asyncio.run(scenario())
