"""Thousands of idle consumers receive a message as soon as one does."""

from __future__ import annotations

import asyncio
import time

import psycopg
import pytest
from support import until

from howdah.engine import Message, aio, connect
from howdah.engine.aio.session import AsyncSession
from howdah.engine.aio.shared import AsyncSharedConsumers
from howdah.engine.database.waiting import PAUSE_MAX


@pytest.fixture
def orders(dsn: str) -> str:
    """The name of a queue made for the test."""
    with connect(dsn) as connection:
        connection.admin.create_queue("orders")
    return "orders"


def look_rarely(consumers: AsyncSharedConsumers) -> bool:
    """Whether for each queue somebody listens, has asked to be woken, and looks at the longest pauses of one queue."""
    return all(
        monitor._hearing.ready()
        and all(line.asked is not None and line.pause >= PAUSE_MAX for line in monitor._lines.values())
        for monitor in consumers._monitors
    )


def latencies(
    dsn: str, queues: list[str], consumers_each: int, rounds: int, *, each_when_idle: bool = False
) -> list[float]:
    """Seconds from a send to its handler, one message at a time, with idle consumers over four connections.

    each_when_idle: before each send, wait until the consumers look rarely again. Just after a message they look often.
    """
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
            await until(lambda: look_rarely(consumers))
            for number in range(rounds):
                at = asyncio.get_running_loop().create_future()
                sent = time.monotonic()
                await sender.execute("select howdah.send(%s, 'x'::text)", (queues[number % len(queues)],))
                async with asyncio.timeout(30):
                    found.append(await at - sent)
                if each_when_idle:
                    await until(lambda: look_rarely(consumers))
                await asyncio.sleep(0.05)  # faster than 250 a second, messages come without a notification

    asyncio.run(main())
    return sorted(found)


def at(values: list[float], share: float) -> float:
    """The latency below which a share of them lies, in milliseconds."""
    return 1000 * values[min(int(share * len(values)), len(values) - 1)]


@pytest.mark.slow
def test_three_hundred_idle_consumers_receive_over_four_connections(dsn: str, orders: str) -> None:
    found = latencies(dsn, [orders], 300, 20, each_when_idle=True)
    assert at(found, 0.85) < 120, "with looks alone, four of 20 would take over 200 ms"


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
