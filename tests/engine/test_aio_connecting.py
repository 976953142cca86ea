"""The settings of a connection for asyncio: those of ``connect``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from psycopg_pool import AsyncConnectionPool
from support import Db, column, one, wait_until

from howdah.engine import AckMode, Message, Reconnection, connect, lookup
from howdah.engine.aio import AsyncConnection, connect_async
from howdah.engine.errors import BadArgument, ClientIdInUse, IllegalState, NotAllowed

SUBSCRIPTIONS = "select subscription from howdah.list_subscriptions('news') order by 1"


def run(dsn: str, scenario: Callable[[AsyncConnection], Awaitable[None]], **settings: Any) -> None:
    async def whole() -> None:
        async with connect_async(dsn, **settings) as connection:
            await scenario(connection)

    asyncio.run(whole())


def send(db: Db, *bodies: str) -> None:
    db.execute("select howdah.send('orders', body) from unnest(%s::text[]) body", (list(bodies),))


def test_a_role_is_taken_on_every_connection_those_of_acknowledge_modes_too(dsn: str, db: Db, orders: str) -> None:
    db.execute("drop role if exists plain_reader; create role plain_reader in role howdah_consumer")

    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.session() as session:
            assert (await (await session.connection.execute("select current_user")).fetchone())[0] == "plain_reader"
        with pytest.raises(NotAllowed):
            await connection.send(orders, "x")
        async with await connection.jms_session() as session:
            with pytest.raises(NotAllowed):
                await session.send(orders, "x")

    run(dsn, scenario, role="plain_reader")


def test_a_claimed_client_id_names_all_subscriptions_made_through_the_connection(dsn: str, db: Db) -> None:
    one(db, "select howdah.create_topic('news')")

    async def scenario(connection: AsyncConnection) -> None:
        assert connection.client_id == "shop"
        await connection.admin.subscribe("news", "by_admin")
        async with connection.transaction() as transaction:
            await transaction.admin.subscribe("news", "by_transaction")
        async with await connection.session() as session:
            await session.admin.subscribe("news", "by_session")
            await session.commit()
        async with await connection.jms_session() as jms:
            await jms.subscriber("news")
            found = column(db, "select client_id from howdah.list_subscriptions('news')")
            assert found == ["shop"] * 4

    run(dsn, scenario, client_id="shop")
    with connect(dsn, client_id="shop") as again, again.session() as session:  # the claim was released
        session.admin.subscribe("news", "by_a_session_of_a_thread")
        session.commit()
    assert column(db, SUBSCRIPTIONS) == [
        f"news:shop:{name}" for name in ("by_a_session_of_a_thread", "by_admin", "by_session", "by_transaction")
    ]


def test_a_message_that_failed_after_its_redeliveries_is_rejected_whoever_records_it(
    dsn: str, db: Db, orders: str
) -> None:
    async def scenario(connection: AsyncConnection) -> None:
        send(db, "broken")
        handled: list[int] = []

        async def fail(message: Message) -> None:
            handled.append(message.delivery_count)
            raise ZeroDivisionError

        async with await connection.session() as session:
            await session.listen(orders, fail)
            await asyncio.to_thread(wait_until, lambda: column(db, "select 1 from howdah.browse('orders')") == [])
        assert handled == [1, 2]

        send(db, "broken")
        async with await connection.session() as session:
            for refused in (False, True):
                (message,) = await session.receive(orders)
                await session.rollback()
                incident = await connection.record_failure(message, ZeroDivisionError())
                assert incident is not None
                assert incident.outcome == ("moved" if refused else "returned")

    run(dsn, scenario, max_redeliveries=1)


def test_what_is_sent_through_an_instance_names_its_home(dsn: str, orders: str) -> None:
    async def scenario(connection: AsyncConnection) -> None:
        await connection.send(orders, "x")
        async with connection.transaction() as session:
            await session.send(orders, "x")
            assert [m.headers["howdah_home"] for m in await session.receive(orders, 2)] == ["eu"] * 2
        async with await connection.jms_session(mode=AckMode.AUTO) as jms:
            await jms.send(orders, "x")
            message = await (await jms.consumer(orders)).receive(5)
            assert message is not None
            assert message.headers["howdah_home"] == "eu"

    run(dsn, scenario, instance="eu")


def test_a_stopped_connection_receives_nothing_until_it_is_started(dsn: str, db: Db, orders: str) -> None:
    send(db, *"abc")

    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.session(transacted=False) as session, await connection.jms_session() as jms:
            consumer = await jms.consumer(orders)
            for started in (False, True):
                if started:
                    connection.stop()
                assert not connection.started
                assert await session.receive(orders) == []
                assert await consumer.receive(0.1) is None
                async with connection.transaction() as transaction:
                    assert await transaction.receive(orders) == []
                await connection.send(orders, "d")
                connection.start()
                assert await session.receive(orders) != []
                assert await consumer.receive(5) is not None

    run(dsn, scenario, started=False)


def test_the_applications_own_pool_stays_open(dsn: str, orders: str) -> None:
    async def scenario() -> None:
        async with AsyncConnectionPool(dsn, min_size=0, max_size=2, open=False) as pool:
            async with connect_async(pool=pool, instance="eu", max_redeliveries=3) as connection:
                await connection.send(orders, "x")
                assert connection.max_redeliveries == 3
                with pytest.raises(IllegalState, match="acknowledge mode"):
                    await connection.jms_session()
            async with pool.connection() as own:
                await own.execute("select")
            with pytest.raises(IllegalState, match="closed"):
                await connection.send(orders, "x")
            refused = {"role": "r", "client_id": "c", "service": "jms", "commit_by_reliability": True, "dsn": dsn}
            for name, value in refused.items():
                with pytest.raises(BadArgument, match=f"{name} does not go with a pool"):
                    async with connect_async(pool=pool, **{name: value}):  # type: ignore[arg-type]
                        pass

    asyncio.run(scenario())


def test_a_factory_decides_alone(dsn: str, db: Db) -> None:
    one(db, "select howdah.create_object('shops', 'connection_factory', '{\"max_size\": 3}')")
    factory = lookup(dsn, "shops")

    async def scenario() -> None:
        async with connect_async(factory=factory) as connection:
            assert connection.pool.max_size == 3
        with pytest.raises(BadArgument, match="dsn does not go with a factory"):
            async with connect_async(dsn, factory=factory):
                pass
        with pytest.raises(BadArgument, match="timeout does not go with a factory"):
            async with connect_async(factory=factory, timeout=3):
                pass

    asyncio.run(scenario())


def test_a_misspelt_setting_is_refused(dsn: str) -> None:
    async def scenario() -> None:
        with pytest.raises(TypeError, match="'clientid'"):
            async with connect_async(dsn, clientid="shop"):  # type: ignore[call-arg]
                pass

    asyncio.run(scenario())


def test_an_acknowledge_session_that_ends_or_is_never_opened_leaves_the_client_id_claimed(dsn: str) -> None:
    async def scenario(connection: AsyncConnection) -> None:
        opening = asyncio.create_task(connection.jms_session())
        await asyncio.sleep(0)
        opening.cancel()
        with suppress(asyncio.CancelledError):
            await opening
        async with await connection.jms_session() as jms:
            await jms.subscriber("news")
        owner = connection._thread_connection
        assert owner is not None
        await asyncio.to_thread(owner.close)
        for _ in range(2):
            with pytest.raises(ClientIdInUse):
                await asyncio.to_thread(connect, dsn, client_id="shop")

    with connect(dsn) as admin:
        admin.admin.create_topic("news")
    run(dsn, scenario, client_id="shop")
    connect(dsn, client_id="shop").close()


@pytest.mark.slow
def test_the_pool_and_the_client_id_are_given_back_though_the_close_is_cancelled(dsn: str, orders: str) -> None:
    async def scenario() -> None:
        seen: list[AsyncConnection] = []

        async def work() -> None:
            async with connect_async(dsn, client_id="shop") as connection:
                seen.append(connection)
                session = await connection.session()
                await session.send(orders, "x")

                async def never() -> None:
                    await asyncio.Event().wait()

                session.close = never  # type: ignore[method-assign]

        working = asyncio.create_task(work())
        while not (seen and seen[0]._closed):
            await asyncio.sleep(0.01)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        assert seen[0].pool.closed
        (await asyncio.to_thread(connect, dsn, client_id="shop")).close()

    asyncio.run(scenario())


def test_it_goes_on_after_lost_connections(dsn: str, db: Db, orders: str) -> None:
    async def scenario(connection: AsyncConnection) -> None:
        async with await connection.session() as session:
            await session.send(orders, "x")
            pid = await (await session.connection.execute("select pg_backend_pid()")).fetchone()
            await session.commit()
            one(db, "select pg_terminate_backend(%s)", pid)
            wait_until(lambda: column(db, "select 1 from pg_stat_activity where pid = %s", pid) == [])
            assert len(await session.receive(orders)) == 1

    run(dsn, scenario, reconnection=Reconnection(20, 0.01))
