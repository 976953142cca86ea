"""A cancelled task loses no message, changes no order, and leaves no session open."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from aio_sessions_support import READY, body, run, send
from support import Db, column, one, wait_until

from howdah.engine import AckMode
from howdah.engine.aio import AsyncConnection


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
