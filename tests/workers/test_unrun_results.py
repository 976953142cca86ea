"""A handler or listener that returns what nobody ran fails its delivery."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from async_handlers_support import brew, send
from support import Db, column, one, wait_until

from howdah.engine import connect as connect_engine
from howdah.engine.errors import BadArgument
from howdah.testing import drain
from howdah.workers import App, Message, Transaction


@pytest.mark.first_case
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["coroutine", "future", "generator", "async generator"])
def test_a_plain_function_that_returns_what_nobody_ran_fails_the_delivery(shop: Db, dsn: str, kind: str) -> None:
    def plain() -> Iterator[int]:
        yield 1

    async def later() -> AsyncIterator[int]:
        yield 1

    def handle(message: Message, transaction: Transaction) -> Any:
        if kind == "future":
            return asyncio.Future(loop=loop)
        kinds: dict[str, Callable[..., Any]] = {
            "coroutine": brew,
            "generator": lambda *_: plain(),
            "async generator": lambda *_: later(),
        }
        return kinds[kind](message, transaction)

    loop = asyncio.new_event_loop()
    app = App("shop")
    app.handler("orders")(handle)
    (sent,) = send(shop, "x")
    drained = drain(app, dsn, check=False)
    loop.close()
    assert drained.handled == 0
    assert {(failure.message_id, failure.error_class) for failure in drained.failures} == {(sent, "NotRun")}


@pytest.mark.first_case
@pytest.mark.filterwarnings("ignore:coroutine 'brew' was never awaited")
@pytest.mark.parametrize(
    "result",
    [
        brew,
        lambda *_: (x for x in "ab"),
        lambda *each: [brew(*each), brew(*each)],
        lambda *each: (None, [brew(*each)]),
        lambda *_: map(str, "ab"),
        lambda *_: concurrent.futures.Future(),
        lambda *each: {"a": brew(*each)},
        lambda *each: deque([brew(*each)]),
        lambda *each: {brew(*each)},
        lambda *_: itertools.starmap(pow, [(1, 2)]),
        lambda *_: enumerate(map(str, "ab")),
    ],
    ids=[
        "coroutine",
        "generator",
        "list",
        "nested",
        "map",
        "future of a thread",
        "dict",
        "deque",
        "set",
        "starmap",
        "enumerate",
    ],
)
@pytest.mark.parametrize("kind", ["async", "plain"])
def test_what_a_handler_returns_without_having_run_it_fails_the_delivery(
    shop: Db, dsn: str, kind: str, result: Callable[..., Any]
) -> None:
    async def handle(message: Message, transaction: Transaction) -> Any:
        return result(message, transaction)

    app = App("shop")
    app.handler("orders")(handle if kind == "async" else lambda m, t: result(m, t))
    (sent,) = send(shop, "x")
    drained = drain(app, dsn, check=False)
    assert (drained.handled, {each.error_class for each in drained.failures}) == (0, {"NotRun"})
    assert {failure.message_id for failure in drained.failures} == {sent}


@pytest.mark.filterwarnings("error")
def test_listeners_of_sessions_are_refused_if_async_and_fail_if_they_return_an_awaitable(
    shop: Db, dsn: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def listen(message: Message) -> None:
        pass

    def returns(message: Message) -> Awaitable[None]:
        return listen(message)

    caplog.set_level(logging.ERROR)
    (sent,) = send(shop, "x")
    with connect_engine(dsn) as connection:
        with connection.session() as session, pytest.raises(BadArgument, match="coroutine"):
            session.consumer("orders").listener = listen  # type: ignore[assignment]
        with connection.session() as session:
            session.consumer("orders").listener = returns  # type: ignore[assignment]
            wait_until(lambda: one(shop, "select count(*) from howdah.poison_details") == 5)
    assert set(column(shop, "select error_class from howdah.poison_details")) == {"NotRun"}
    assert one(shop, "select count(*) from howdah.msgs where message_id = %s and dead_at is not null", (sent,)) == 1
