"""Connecting with a service: its pool, its sessions and the models that serve them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable

import psycopg
import pytest
from support import Db, one, wait_until

from howdah.engine import ConnectionFactory, Message, aio, connect
from howdah.engine.aio.session import AsyncSession
from howdah.engine.aio.shared import Handler
from howdah.engine.errors import BadArgument, CannotConnect, ServiceUnavailable

BACKENDS = (
    "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    " and backend_type = 'client backend' and application_name like 'howdah%'"
)
LISTENING = BACKENDS + " and query = 'listen howdah'"


@pytest.fixture
def orders(dsn: str) -> str:
    """The name of a queue made for the test."""
    with connect(dsn) as connection:
        connection.admin.create_queue("orders")
    return "orders"


def alter(dsn: str, **options: object) -> None:
    """Change the service jms."""
    with connect(dsn) as connection:
        connection.services.alter("jms", **options)  # type: ignore[arg-type]


@pytest.mark.behaviour("IMQ-05")
def test_a_connection_for_messages_administers_nothing_and_one_of_administrators_does(dsn: str, orders: str) -> None:
    with connect(dsn, service="jms") as connection:
        connection.send(orders, "x")
        with pytest.raises(ServiceUnavailable, match="not for administration"):
            connection.admin.create_queue("other")
    with connect(dsn, service="admin") as connection:
        connection.admin.create_queue("other")
    with connect(dsn) as connection:
        connection.admin.create_queue("third")


@pytest.mark.behaviour("IMQ-06")
def test_who_connects_with_a_service_that_is_not_active_is_refused_at_once(dsn: str, orders: str) -> None:
    alter(dsn, active=False)
    with pytest.raises(ServiceUnavailable, match="service jms is not active"):
        connect(dsn, service="jms")
    with pytest.raises(ServiceUnavailable):
        ConnectionFactory(dsn, service="jms").create_connection()
    with connect(dsn, service="admin") as connection:
        connection.send(orders, "x")


@pytest.mark.behaviour("IMQ-69")
def test_a_service_with_tls_refuses_a_plain_connection(dsn: str) -> None:
    with connect(dsn, service="admin") as connection:
        connection.services.alter("ssljms", active=True)
    with pytest.raises(ServiceUnavailable, match="demands TLS"):
        connect(dsn, service="ssljms")


def test_a_pool_of_the_applications_own_names_its_service_itself(dsn: str) -> None:
    import psycopg_pool

    with psycopg_pool.ConnectionPool(dsn, open=True) as pool, pytest.raises(BadArgument, match="service does not go"):
        connect(pool=pool, service="jms")


@pytest.mark.slow
@pytest.mark.own_database
@pytest.mark.behaviour("IMQ-10")
def test_a_services_pool_grows_to_its_maximum_under_load_and_the_reaper_closes_what_is_idle(
    dsn: str, orders: str, db: Db
) -> None:
    alter(dsn, min_connections=2, max_connections=5, idle_seconds=1)
    with connect(dsn, service="jms") as connection:
        connection.pool.wait()
        assert one(db, BACKENDS) == 2
        go = threading.Event()
        taken = []

        def load() -> None:
            with connection.session() as session:
                taken.append(session)
                go.wait(60)
                session.send(orders, "x")
                session.commit()

        threads = [threading.Thread(target=load) for _ in range(20)]
        for thread in threads:
            thread.start()
        wait_until(lambda: connection.pool.get_stats()["requests_waiting"] == 15)
        assert one(db, BACKENDS) == 5
        go.set()
        for thread in threads:
            thread.join(60)
        assert len(taken) == 20
        wait_until(lambda: one(db, BACKENDS) == 2)
        with connection.session() as session, session.transaction():
            assert len(session.receive(orders, 99)) == 20


@pytest.mark.behaviour("IMQ-11")
def test_at_the_services_maximum_a_further_session_waits_until_one_is_free_or_its_time_is_up(dsn: str) -> None:
    alter(dsn, max_connections=2)
    with connect(dsn, service="jms", timeout=0.5) as connection:
        first, _second = connection.session(), connection.session()
        with pytest.raises(CannotConnect):
            connection.session()
        threading.Timer(0.1, first.close).start()
        connection.session().close()


@pytest.mark.behaviour("IMQ-12")
def test_the_arguments_override_the_services_sizes_and_cannot_contradict_each_other(dsn: str) -> None:
    alter(dsn, min_connections=3, max_connections=5)
    for sizes in ({"max_size": 0}, {"min_size": 5}, {"min_size": 2, "max_size": 2}):
        with pytest.raises(BadArgument):
            connect(dsn, service="jms", **sizes)  # type: ignore[arg-type]
    with connect(dsn, service="jms", max_size=2) as connection:
        assert (connection.pool.min_size, connection.pool.max_size) == (1, 2)


@pytest.mark.own_database
@pytest.mark.behaviour("IMQ-13")
def test_a_dedicated_session_takes_two_connections_so_a_third_of_four_waits_or_is_refused(
    dsn: str, orders: str, db: Db
) -> None:
    alter(dsn, model="dedicated", max_connections=4)
    with connect(dsn, service="jms", timeout=0.5) as connection:
        first = connection.session()
        assert one(db, BACKENDS) == 2
        second = connection.session()
        assert one(db, BACKENDS) == 4
        with pytest.raises(CannotConnect, match="no pair"):
            connection.session()
        threading.Timer(0.1, first.close).start()
        with connection.session() as third, third.transaction():
            third.send(orders, "x")
        second.close()
        assert one(db, BACKENDS) == 4, "they are back in the pool, and nobody else listens"


@pytest.mark.own_database
def test_of_a_dedicated_pair_one_connection_waits_and_the_other_has_the_transaction(
    dsn: str, orders: str, db: Db
) -> None:
    alter(dsn, model="dedicated", max_connections=5)
    got: list[Message] = []
    with connect(dsn, service="jms") as connection, connection.session() as session:
        receiving = threading.Thread(target=lambda: got.extend(session.receive(orders, wait=30)))
        receiving.start()
        wait_until(lambda: one(db, LISTENING) == 1)
        assert one(db, BACKENDS) == 2
        connection.send(orders, "x")
        receiving.join(30)
        assert [message.body for message in got] == ["x"]
        session.commit()
    wait_until(lambda: one(db, BACKENDS) == 0)


def test_a_dedicated_service_needs_two_connections(dsn: str) -> None:
    alter(dsn, model="dedicated")
    with connect(dsn, service="jms", max_size=1) as connection, pytest.raises(BadArgument, match="two connections"):
        connection.session()


def test_sessions_that_are_opened_at_once_do_not_wait_for_each_others_second_connection(dsn: str) -> None:
    alter(dsn, model="dedicated", max_connections=4)
    opened: Counter[str] = Counter()
    with connect(dsn, service="jms", timeout=20) as connection:

        def use() -> None:
            with connection.session() as session:
                assert one(session.connection, "select 1") == 1
            opened["done"] += 1

        threads = [threading.Thread(target=use) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert opened["done"] == 12


# -- the shared model -------------------------------------------------------------------------------------------------


async def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for a condition without stopping the loop."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        await asyncio.sleep(0.01)


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
def test_delayed_messages_and_those_of_a_topic_reach_shared_consumers(dsn: str, orders: str) -> None:
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
            await asyncio.sleep(0.3)
            await connection.send(orders, "late", delay=0.5)
            await connection.send("prices", "up")
            await until(lambda: sorted(got) == ["late", "up"])

    asyncio.run(main())


def latencies(dsn: str, queues: list[str], consumers_each: int, rounds: int) -> list[float]:
    """Seconds from a send to its handler, one message at a time, with idle consumers over four connections."""
    found: list[float] = []

    async def main() -> None:
        async with (
            aio.connect_async(dsn, max_size=4) as connection,
            connection.shared_consumers() as consumers,
            await psycopg.AsyncConnection.connect(dsn, autocommit=True) as sender,
        ):
            at = asyncio.get_running_loop().create_future()

            async def handle(message: Message, session: AsyncSession) -> None:
                at.set_result(time.monotonic())

            for queue in queues:
                for _ in range(consumers_each):
                    consumers.add(queue, handle)
            await asyncio.sleep(2)
            for number in range(rounds):
                at = asyncio.get_running_loop().create_future()
                sent = time.monotonic()
                await sender.execute("select howdah.send(%s, 'x'::text)", (queues[number % len(queues)],))
                async with asyncio.timeout(30):
                    found.append(await at - sent)
                await asyncio.sleep(0.05)

    asyncio.run(main())
    return sorted(found)


def at(values: list[float], share: float) -> float:
    """The latency below which a share of them lies, in milliseconds."""
    return 1000 * values[min(int(share * len(values)), len(values) - 1)]


@pytest.mark.slow
def test_three_hundred_idle_consumers_receive_over_four_connections(dsn: str, orders: str) -> None:
    assert at(latencies(dsn, [orders], 300, 20), 0.5) < 200, "the longest pause between two looks is 250 ms"


@pytest.mark.slow
@pytest.mark.own_database
@pytest.mark.parametrize("queues", [1, 30, 300])
def test_three_thousand_idle_consumers_receive_as_soon_as_one(dsn: str, queues: int) -> None:
    """Who waits costs nothing, so the median of the latency is that of one consumer, give or take a machine's noise."""
    names = [f"orders{number}" for number in range(queues)]
    with connect(dsn) as connection:
        for name in names:
            connection.admin.create_queue(name)
    one_alone = latencies(dsn, names[:1], 1, 200)
    many = latencies(dsn, names, 3000 // queues, 200)
    again = latencies(dsn, names[:1], 1, 200)
    for name, values in (("one", one_alone), ("3000", many), ("one again", again)):
        print(f"{queues} queues, {name}: p50 {at(values, 0.5):.2f} ms, p99 {at(values, 0.99):.2f} ms")
    assert at(many, 0.5) < 2 * max(at(one_alone, 0.5), at(again, 0.5)) + 25
