"""Shared consumers receive over a few connections and hold none while they are idle."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from service_pools_support import BACKENDS, LISTENING, alter
from support import Db, one, until
from waking_receivers_support import AWAITED

from howdah.engine import Message, aio, connect
from howdah.engine.aio.session import AsyncSession
from howdah.engine.aio.shared import Handler
from howdah.engine.errors import BadArgument


@pytest.fixture
def orders(dsn: str) -> str:
    """The name of a queue made for the test."""
    with connect(dsn) as connection:
        connection.admin.create_queue("orders")
    return "orders"


def idle(connection: aio.AsyncConnection) -> bool:
    """Whether nobody has a connection of the pool."""
    stats = connection.pool.get_stats()
    return stats["pool_available"] == stats["pool_size"]


@pytest.mark.slow
@pytest.mark.own_database
@pytest.mark.behaviour("IMQ-14")
def test_fifty_consumers_over_four_connections_all_receive_and_hold_none_while_idle(
    dsn: str, orders: str, db: Db
) -> None:
    alter(dsn, max_connections=4)
    got: Counter[int] = Counter()
    sizes: set[int] = set()

    async def main() -> None:
        async with (
            aio.connect_async(dsn, service="jms") as connection,
            connection.shared_consumers() as consumers,
        ):

            def consumer(number: int) -> Handler:
                async def handle(message: Message, session: AsyncSession) -> None:
                    got[number] += 1
                    sizes.add(int(one(db, BACKENDS)))
                    await asyncio.sleep(0.02)

                return handle

            for number in range(50):
                consumers.add(orders, consumer(number))
            await until(lambda: one(db, LISTENING) == 1)
            await until(lambda: idle(connection))
            sent = 0
            while len(got) < 50 and sent < 1000:
                for _ in range(50):
                    await connection.send(orders, "x")
                sent += 50
                await until(lambda sent=sent: sum(got.values()) == sent)  # type: ignore[misc]
            await until(lambda: idle(connection))

    asyncio.run(main())
    assert len(got) == 50
    assert max(sizes) <= 5, "four, and one that listens"


@pytest.mark.first_case
@pytest.mark.own_database
@pytest.mark.behaviour("IMQ-15")
@pytest.mark.parametrize(("limit", "listening"), [(10, 3), (0, 1)])
def test_one_listening_connection_serves_as_many_consumers_as_the_limit_says(
    dsn: str, orders: str, db: Db, limit: int, listening: int
) -> None:
    alter(dsn, max_connections=4, monitor_limit=limit)
    got: Counter[int] = Counter()

    async def main() -> None:
        async with aio.connect_async(dsn, service="jms") as connection:
            consumers = connection.shared_consumers()

            async def handle(message: Message, session: AsyncSession) -> None:
                got[message.message_id] += 1

            made = [consumers.add(orders, handle) for _ in range(25)]
            await until(lambda: one(db, LISTENING) == listening)
            for _ in range(30):
                await connection.send(orders, "x")
            await until(lambda: len(got) == 30)
            for consumer in made[:10]:
                await consumers.remove(consumer)
            if limit:
                await until(lambda: one(db, LISTENING) == listening - 1)
            await connection.send(orders, "x")
            await until(lambda: len(got) == 31)
            await consumers.close()
            await until(lambda: one(db, LISTENING) == 0)

    asyncio.run(main())
    assert set(got.values()) == {1}


def test_a_shared_handler_that_could_not_be_awaited_is_refused_when_it_is_added(dsn: str, orders: str) -> None:
    def plain(message: Message, session: AsyncSession) -> None:
        raise AssertionError("it was called")

    async def scenario() -> None:
        async with aio.connect_async(dsn, service="jms") as connection, connection.shared_consumers() as consumers:
            with pytest.raises(BadArgument, match="async def"):
                consumers.add(orders, plain)  # type: ignore[arg-type]

    asyncio.run(scenario())


def test_a_shared_handler_that_fails_is_recorded_and_its_message_comes_again(dsn: str, orders: str, db: Db) -> None:
    counts: list[int] = []

    async def main() -> None:
        async with aio.connect_async(dsn, service="jms") as connection, connection.shared_consumers() as consumers:

            async def handle(message: Message, session: AsyncSession) -> None:
                counts.append(message.delivery_count)
                await session.send("answers", message.body or "")
                if len(counts) == 1:
                    raise ValueError("not today")

            consumers.add(orders, handle)
            await connection.send(orders, "x")
            await until(lambda: len(counts) == 2)

    with connect(dsn) as connection:
        connection.admin.create_queue("answers")
    asyncio.run(main())
    assert counts == [1, 2]
    assert one(db, "select count(*) from howdah.incidents('orders')") == 1
    assert one(db, "select count(*) from howdah.audit_messages where queue = 'answers'") == 1


@pytest.mark.slow
def test_delayed_messages_and_those_of_a_topic_reach_shared_consumers(dsn: str, orders: str, db: Db) -> None:
    got: list[str] = []
    with connect(dsn) as connection:
        connection.admin.create_topic("prices")
        name = connection.admin.subscribe("prices", "desk")

    async def main() -> None:
        async with aio.connect_async(dsn, service="jms") as connection, connection.shared_consumers() as consumers:

            async def handle(message: Message, session: AsyncSession) -> None:
                got.append(str(message.body))

            consumers.add(orders, handle)
            consumers.add(name, handle)
            await until(lambda: all(one(db, AWAITED, (queue,)) for queue in (orders, name)))
            await connection.send(orders, "late", delay=0.5)
            await connection.send("prices", "up")
            await until(lambda: sorted(got) == ["late", "up"])

    asyncio.run(main())
