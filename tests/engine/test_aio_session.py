"""The asynchronous session has every verb of the synchronous one, which is written from it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import psycopg
import pytest
from support import Db, column, one, until

from howdah.engine import Connection, Consumer, Message, Reject, Session
from howdah.engine.aio import AsyncConnection, AsyncConsumer, AsyncSession, connect_async
from howdah.engine.database.waiting import Idle
from howdah.engine.errors import BadArgument, ConnectionLost, IllegalState, LockLost, NoSuchQueue

Scenario = Callable[[AsyncConnection], Awaitable[None]]


@pytest.fixture
def run(dsn: str) -> Callable[[Scenario], None]:
    """Runs a scenario with an asynchronous connection."""

    async def connected(scenario: Scenario) -> None:
        async with connect_async(dsn) as connection:
            await asyncio.wait_for(scenario(connection), 60)

    return lambda scenario: asyncio.run(connected(scenario))


def test_both_have_the_same_verbs() -> None:
    def verbs(cls: type) -> set[str]:
        return {name for name in dir(cls) if not name.startswith("_")}

    assert verbs(AsyncSession) == verbs(Session)
    assert verbs(AsyncConsumer) == verbs(Consumer)
    # What only a synchronous connection has: threads that send.
    assert verbs(Connection) - verbs(AsyncConnection) - {"pool", "run", "naming"} == {
        "send_async",
        "windowed_producer",
    }


def test_a_stream_and_a_load_are_one_transaction_each(run: Callable[[Scenario], None], db: Db, orders: str) -> None:
    def broken() -> Iterator[str]:
        yield from ["x"] * 5
        raise ZeroDivisionError

    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.session() as session:
            assert await session.send_stream(orders, (str(n) for n in range(2500)), batch=100) == 2500
            assert one(db, "select count(*) from howdah.browse(%s, 10000)", (orders,)) == 0
            await session.commit()
            assert column(db, "select body from howdah.browse(%s, 10000)", (orders,)) == [str(n) for n in range(2500)]
            assert len(await session.receive(orders, 10_000)) == 2500
            await session.commit()
            for send in (session.send_stream, session.send_copy):
                with pytest.raises(ZeroDivisionError):
                    await send(orders, broken())
            rows = [("a", 7, {"n": 1}), ("b", None, None)]
            assert await session.send_copy(orders, rows, columns=["priority", "headers"]) == 2
            with pytest.raises(BadArgument):
                await session.send_copy(orders, [("a", "seven")], columns=["priority"])
            await session.commit()
            shown = [(m.body, m.priority, m.headers) async for m in session.browser(orders)]
            assert shown == [("a", 7, {"n": 1}), ("b", 4, {})]
        async with connection.transaction() as session:
            assert await session.send_stream(orders, ["c"]) == 1
            assert await session.send_copy(orders, ["d"]) == 1
        assert column(db, "select body from howdah.browse(%s)", (orders,)) == ["a", "b", "c", "d"]

    run(scenario)


async def fail(session: AsyncSession, queue: str) -> None:
    async with session.transaction():
        await session.producer(queue).send("undone")
        raise ZeroDivisionError


def test_commit_and_rollback_are_the_sessions(run: Callable[[Scenario], None], db: Db, orders: str) -> None:
    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.session() as session:
            producer, consumer = session.producer(orders), session.consumer(orders)
            with pytest.raises(ZeroDivisionError):
                await fail(session, orders)
            async with session.transaction():
                assert len(await producer.send_many(["a", "b"])) == 2
            message = await consumer.receive(5)
            assert message is not None
            assert message.body == "a"
            await session.rollback()
            assert [m.body for m in await session.receive(orders, 5)] == ["a", "b"]
            await session.commit()
            assert await consumer.receive_nowait() is None
            with pytest.raises(NoSuchQueue):
                await session.send("nowhere", "x")
            assert session.connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        async with await connection.session(transacted=False) as session:
            await session.send(orders, "c")
            assert len(await session.receive(orders)) == 1
            with pytest.raises(IllegalState):
                await session.commit()
        with pytest.raises(IllegalState):
            await session.send(orders, "x")
        connection.stop()
        async with await connection.session() as session:
            await session.send(orders, "held")
            assert await session.receive(orders) == []
            connection.start()
            assert [m.body for m in await session.receive(orders)] == ["held"]

    run(scenario)


def test_a_subscription_and_a_temporary_queue_end_with_their_session(run: Callable[[Scenario], None], db: Db) -> None:
    one(db, "select howdah.create_topic('prices')")

    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.session() as session:
            subscriber = await session.subscriber("prices", selector="n > 1")
            name = await session.create_temporary_queue()
            for n in (1, 2):
                await connection.send("prices", str(n), headers={"n": n})
            message = await subscriber.receive(10)
            assert message is not None
            assert message.body == "2"
            await session.commit()
            await connection.send(name, "answer")
            assert [m.body for m in await session.receive(name, wait=10)] == ["answer"]
            await session.commit()
            assert column(db, "select subscription from howdah.list_subscriptions()") == [subscriber.queue]
        assert column(db, "select subscription from howdah.list_subscriptions()") == []
        with pytest.raises(NoSuchQueue):
            await connection.send(name, "late")

    run(scenario)


def test_a_listener_is_awaited_for_each_message_and_a_failure_recorded(
    run: Callable[[Scenario], None], db: Db, orders: str
) -> None:
    handled: list[str] = []

    async def handle(message: Message) -> None:
        await asyncio.sleep(0)
        if message.body == "bad":
            raise Reject("no")
        handled.append(str(message.body))

    async def scenario(connection: AsyncConnection) -> None:
        session = await connection.session()
        with pytest.raises(BadArgument, match="async def"):
            await session.listen(orders, lambda message: asyncio.sleep(0))
        consumer = session.consumer(orders)
        await consumer.listen(handle)
        for body in ("a", "bad", "b"):
            await connection.send(orders, body)
        await until(lambda: handled == ["a", "b"])
        with pytest.raises(IllegalState, match="task"):
            await session.send(orders, "x")
        with pytest.raises(IllegalState):
            await consumer.receive()
        await until(lambda: one(db, "select count(*) from howdah.poison_details") == 1)
        await consumer.close()
        await connection.send(orders, "left")
        await asyncio.sleep(0.3)  # a consumer that was left would take it
        await session.close()
        await session.close()
        assert handled == ["a", "b"]
        assert one(db, "select count(*) from howdah.browse(%s)", (orders,)) == 1

    run(scenario)


def test_a_listener_may_close_its_own_session(run: Callable[[Scenario], None], db: Db, orders: str) -> None:
    async def scenario(connection: AsyncConnection) -> None:
        session = await connection.session()

        async def last(message: Message) -> None:
            await session.close()

        await session.listen(orders, last)
        await connection.send(orders, "a")
        await connection.send(orders, "b")
        await until(lambda: session.closed)
        await until(lambda: one(db, "select consumed from howdah.queue_stats(%s)", (orders,)) == 1)
        assert column(db, "select body from howdah.browse(%s)", (orders,)) == ["b"]

    run(scenario)


def test_a_listener_goes_on_after_its_connection_was_lost(run: Callable[[Scenario], None], db: Db, orders: str) -> None:
    handled: list[str] = []

    async def handle(message: Message) -> None:
        handled.append(str(message.body))

    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.session() as session:
            backend = session.connection.info.backend_pid
            await session.listen(orders, handle)
            await connection.send(orders, "a")
            await until(lambda: handled == ["a"])
            db.execute("select pg_terminate_backend(%s, 5000)", (backend,))
            await connection.send(orders, "b")
            await until(lambda: handled[-1] == "b")

    run(scenario)


def test_closing_ends_what_waits(run: Callable[[Scenario], None], orders: str, rare: set[Idle]) -> None:
    async def scenario(connection: AsyncConnection) -> None:
        session = await connection.session()
        waiting = asyncio.create_task(session.receive(orders, wait=60))
        await until(lambda: rare)
        await session.close()
        assert await asyncio.wait_for(waiting, 10) == [], "by itself it would have looked again after half a minute"
        other = await connection.session()
        async with asyncio.TaskGroup() as tasks:
            found = tasks.create_task(other.receive(orders, wait=60))
            await until(lambda: rare)
            await connection.send(orders, "x")
        assert [m.body for m in found.result()] == ["x"]

    run(scenario)


def test_a_lost_connection_is_renewed(run: Callable[[Scenario], None], db: Db, orders: str) -> None:
    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.session() as session:
            await session.send(orders, "x")
            db.execute("select pg_terminate_backend(%s, 5000)", (session.connection.info.backend_pid,))
            with pytest.raises(ConnectionLost):
                await session.commit()
            await session.renew()
            await session.send(orders, "y")
            await session.commit()
        assert column(db, "select body from howdah.browse(%s)", (orders,)) == ["y"]

    run(scenario)


def test_the_administrators_verbs_are_awaited(run: Callable[[Scenario], None], db: Db, orders: str) -> None:
    async def scenario(connection: AsyncConnection) -> None:
        assert (await connection.admin.resource_state())["state"] == "green"
        assert await connection.archives.runs() == []
        assert (await connection.archives.identity()).archive_id is None
        assert await connection.audits.last() is None
        hold = await connection.audits.hold("me")
        assert hold.by == "me"
        assert hold.epoch is not None
        await connection.audits.release(hold.epoch)
        with pytest.raises(LockLost):
            await connection.audits.release(hold.epoch)
        number = await connection.schedules.add(orders, "x", period=60, repeat=1)
        assert [row["schedule_id"] for row in await connection.schedules.list()] == [number]
        async with connection.transaction() as session:
            assert await session.admin.purge_queue(orders) == 0

    run(scenario)


def test_a_call_that_is_cancelled_leaves_no_transaction(run: Callable[[Scenario], None], db: Db, orders: str) -> None:
    async def scenario(connection: AsyncConnection) -> None:
        await connection.admin.create_queue("empty")
        async with await connection.session() as session:
            backend = session.connection.info.backend_pid
            db.execute("begin")
            db.execute("lock table howdah.destinations")
            sending = asyncio.create_task(session.send(orders, "x"))
            await until(lambda: one(db, "select cardinality(pg_blocking_pids(%s)) > 0", (backend,)))
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sending
            db.execute("rollback")
            assert session.connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
            await session.send(orders, "y")
            await session.commit()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(session.receive("empty", wait=60), 0.2)
        assert column(db, "select body from howdah.browse(%s)", (orders,)) == ["y"]

    run(scenario)
