"""A session runs its async handlers in one loop of its own, which leaves no task behind and ends with it."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest
from async_handlers_support import brew, send
from support import Db, column, one, wait_until

from howdah.testing import drain, make_message, run_handler
from howdah.workers import App, Message, Reject, Transaction
from howdah.workers.asynchronous import TasksLeft
from howdah.workers.in_hand import Hands
from howdah.workers.log.writer import IN_HAND
from howdah.workers.loop import SessionLoop
from howdah.workers.time_limits import HandlerTimeout, Limits

COLOUR: contextvars.ContextVar[str] = contextvars.ContextVar("colour", default="none")


def test_an_async_handler_sees_its_threads_context_and_keeps_one_loop(shop: Db, dsn: str) -> None:
    app = App("shop")
    seen: list[tuple[str, str, asyncio.AbstractEventLoop]] = []

    @app.handler("orders")
    async def look(message: Message, transaction: Transaction) -> None:
        await asyncio.sleep(0)
        in_hand = IN_HAND.get()
        assert in_hand is not None
        assert in_hand.message is not None
        seen.append((COLOUR.get(), str(in_hand.message.body), asyncio.get_running_loop()))

    send(shop, "a", "b")
    COLOUR.set("red")
    drain(app, dsn)
    COLOUR.set("none")
    assert [each[:2] for each in seen] == [("red", "a"), ("red", "b")]
    assert seen[0][2] is seen[1][2]
    assert seen[0][2].is_closed()


def test_a_task_that_outlives_its_handler_is_cancelled_and_fails_the_delivery(shop: Db, dsn: str) -> None:
    ended: list[str] = []

    async def linger() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")

    async def leave(message: Message, transaction: Transaction) -> None:
        task = asyncio.create_task(linger(), name="lingering")
        await asyncio.sleep(0)
        assert not task.done()

    with pytest.raises(TasksLeft, match="lingering"):
        run_handler(leave, make_message("x", queue="orders"), dsn)
    assert ended == ["cancelled"]


def test_a_handler_that_stops_its_loop_fails_and_leaves_the_next_one_a_new_loop(shop: Db, dsn: str) -> None:
    app = App("shop")

    @app.handler("orders", rules=[(RuntimeError, Reject)])
    async def handle(message: Message, transaction: Transaction) -> None:
        if message.body == "bad":
            asyncio.get_running_loop().stop()
            await asyncio.sleep(0.001)
        await brew(message, transaction)

    send(shop, "bad", "worse", "good", "bad", "good")
    drained = drain(app, dsn, check=False)
    assert [each.error_class for each in drained.failures] == ["RuntimeError"] * 2
    assert column(shop, "select item from brewed order by 1") == ["good", "good", "worse"]


def test_a_session_told_to_stop_finishes_its_async_handler_and_closes_its_loop(
    shop: Db, dsn: str, tmp_path: Any
) -> None:
    app = App("shop")
    begun, go_on = threading.Event(), threading.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    @app.handler("orders")
    async def wait(message: Message, transaction: Transaction) -> None:
        loops.append(asyncio.get_running_loop())
        begun.set()
        await asyncio.to_thread(go_on.wait)
        await brew(message, transaction)

    stopping = threading.Event()
    loop = SessionLoop(app, dsn, worker="w", hands=Hands.create(tmp_path / "h", 1), slot=0, stopping=stopping)
    send(shop, "mocha")
    loop.start()
    assert begun.wait(30)
    stopping.set()
    loop.wake()
    go_on.set()
    loop.join(30)
    wait_until(lambda: not loop.is_alive())
    assert loop.handled == 1
    assert column(shop, "select item from brewed") == ["mocha"]
    assert loops[0].is_closed()


def test_an_async_handler_is_cancelled_at_its_time_limit(shop: Db, dsn: str, tmp_path: Any) -> None:
    app = App("shop")
    ended: list[str] = []

    @app.handler("orders", time_limit=0.2, rules=[(HandlerTimeout, Reject)])
    async def sleep(message: Message, transaction: Transaction) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append("cancelled")

    (sent,) = send(shop, "x")
    stopping = threading.Event()
    loop = SessionLoop(
        app,
        dsn,
        worker="w",
        hands=Hands.create(tmp_path / "h", 1),
        slot=0,
        stopping=stopping,
        limits=Limits("w", lambda _: None),
    )
    loop.start()
    wait_until(lambda: column(shop, "select error_class from howdah.poison_details") == ["HandlerTimeout"])
    stopping.set()
    loop.wake()
    loop.join(30)
    assert ended == ["cancelled"]
    assert one(shop, "select count(*) from howdah.msgs where message_id = %s and dead_at is not null", (sent,)) == 1
