"""Handlers that are async def: run to their end, in their message's transaction, with the rules of plain ones."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import functools
import itertools
import logging
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from support import Db, column, one, wait_until

from howdah.engine import connect as connect_engine
from howdah.engine.errors import BadArgument
from howdah.testing import drain, make_message, run_handler
from howdah.workers import App, AppError, Message, Reject, Retry, Transaction
from howdah.workers.asynchronous import TasksLeft
from howdah.workers.in_hand import Hands
from howdah.workers.limits import HandlerTimeout, Limits
from howdah.workers.logs import IN_HAND
from howdah.workers.loop import SessionLoop

COLOUR: contextvars.ContextVar[str] = contextvars.ContextVar("colour", default="none")


@pytest.fixture
def shop(db: Db) -> Db:
    db.execute("create table brewed (item text); select howdah.create_queue('orders'), howdah.create_queue('served')")
    return db


def send(db: Db, *bodies: str) -> list[int]:
    return [one(db, "select howdah.send('orders', %s::text)", (body,)) for body in bodies]


async def brew(message: Message, transaction: Transaction) -> None:
    """Lets go of the thread in the middle of its transaction."""
    transaction.connection.execute("insert into brewed values (%s)", (message.body,))
    await asyncio.sleep(0)
    transaction.session.send("served", message.body)


class Brewer:
    async def handle(self, message: Message, transaction: Transaction) -> None:
        await brew(message, transaction)

    async def __call__(self, message: Message, transaction: Transaction) -> None:
        await brew(message, transaction)


@pytest.mark.first_case
@pytest.mark.parametrize(
    "handler",
    [brew, Brewer().handle, Brewer(), functools.partial(brew)],
    ids=["function", "method", "object", "partial"],
)
@pytest.mark.parametrize("kind", ["plain", "hardened", "listener"])
def test_an_async_handler_runs_to_its_end_in_its_messages_transaction(
    shop: Db, dsn: str, handler: Any, kind: str
) -> None:
    app = App("shop")
    app.handler("orders", listener="brewers" if kind == "listener" else None)(handler)
    if kind == "hardened":
        one(shop, """select howdah.alter_queue('orders', '{"backout_count": "hardened"}')""")
    send(shop, "mocha", "latte")
    drained = drain(app, dsn)
    assert (drained.handled, drained.failures, drained.left) == (2, [], {})
    assert column(shop, "select item from brewed order by 1") == ["latte", "mocha"]
    assert column(shop, "select body from howdah.browse('served', 9) order by 1") == ["latte", "mocha"]


def test_a_group_of_tasks_that_failed_for_the_servers_sake_blames_no_message(shop: Db, dsn: str) -> None:
    app = App("shop")

    async def work(message: Message) -> None:
        if message.body == "bad":
            raise psycopg.errors.UniqueViolation("twice")
        raise psycopg.errors.DiskFull("no space left")

    @app.handler("orders")
    async def fail(message: Message, transaction: Transaction) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(work(message))

    send(shop, "good")
    with pytest.raises(ExceptionGroup):  # what a worker tries again after a pause ends a drain
        drain(app, dsn, check=False)
    assert one(shop, "select count(*) from howdah.poison_details") == 0
    one(shop, "select howdah.purge_queue('orders')")
    send(shop, "bad")
    drain(app, dsn, check=False)
    assert shop.execute("select distinct error_class, sqlstate from howdah.poison_details").fetchall() == [
        ("UniqueViolation", "23505")
    ]


def test_what_an_async_handler_raises_rolls_back_and_is_counted_with_its_rules(shop: Db, dsn: str) -> None:
    app = App("shop")

    @app.handler("orders", rules=[(KeyError, Reject), (TimeoutError, Retry(after=60))])
    async def fail(message: Message, transaction: Transaction) -> None:
        await brew(message, transaction)
        if message.body == "slow":
            async with asyncio.timeout(0.001):
                await asyncio.sleep(60)
        if message.body == "cancelled":
            raise asyncio.CancelledError
        raise {"no": KeyError, "bad": ValueError}[str(message.body)]("x")

    send(shop, "no", "bad", "slow", "cancelled")
    drained = drain(app, dsn, delays="leave", check=False)
    classes = [one.error_class for one in drained.failures]
    assert sorted(classes) == ["CancelledError"] * 5 + ["KeyError", "TimeoutError"] + ["ValueError"] * 5
    assert one(shop, "select count(*) from brewed") == 0
    assert column(shop, "select delay_ms from howdah.poison_details where error_class = 'TimeoutError'") == [60_000]


def test_an_innocent_error_of_an_async_handler_blames_nobody(shop: Db, dsn: str) -> None:
    async def locked(message: Message, transaction: Transaction) -> None:
        await asyncio.sleep(0)
        raise psycopg.errors.DeadlockDetected("no")

    ran = run_handler(locked, make_message("x", queue="orders"), dsn, check=False)
    assert ran.outcome == "retried"


def test_the_answer_of_an_async_handler_is_sent(shop: Db, dsn: str) -> None:
    app = App("shop")

    @app.handler("orders", reply=True)
    async def answer(message: Message, transaction: Transaction) -> str:
        await asyncio.sleep(0)
        return str(message.body).upper()

    ran = run_handler(app, make_message("x", queue="orders", reply_to="served"), dsn)
    assert [sent.body for sent in ran.sent] == ["X"]


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


def test_functions_that_a_call_does_not_run_are_refused_at_registration() -> None:
    def generator(message: Message, transaction: Transaction) -> Iterator[int]:
        yield 1

    async def stream(message: Message, transaction: Transaction) -> AsyncIterator[int]:
        yield 1

    app = App("shop")
    for handler, said in (
        (generator, "a generator function"),
        (stream, "an async generator function"),
        (5, "callable"),
    ):
        for register in (app.handler("orders"), app.subscribe("topic", name="s")):
            with pytest.raises(AppError, match=said):
                register(handler)  # type: ignore[arg-type]
    assert app.bindings == {}


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        (lambda message: None, "does not take a message and a transaction: too many positional arguments"),
        (lambda message, transaction, db: None, "missing a required argument: 'db'"),
        (lambda message, *, transaction: None, "does not take"),
        (Brewer, "Brewer does not take"),
    ],
)
def test_functions_that_take_other_arguments_are_refused_at_registration(handler: Any, said: str) -> None:
    app = App("shop")
    with pytest.raises(AppError, match=said):
        app.handler("orders")(handler)
    assert app.bindings == {}


def test_functions_that_can_be_called_with_a_message_and_a_transaction_are_taken() -> None:
    def injected(message: Message, transaction: Transaction, db: object) -> None: ...

    @functools.wraps(injected)
    def wrapper(message: Message, transaction: Transaction) -> None:
        injected(message, transaction, None)

    app = App("shop")
    optional: list[Any] = [wrapper, lambda *both: None, lambda m, t, more=1: None, max, Brewer()]
    for number, handler in enumerate([*optional, functools.partial(injected, db=None)]):
        app.handler(f"queue-{number}")(handler)
    assert len(app.bindings) == 6


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"queue": brew}, "queue must be a text, not <function brew"),
        ({"message_type": 5}, "message_type must be a text, not 5"),
        ({"listener": App}, "listener must be a text"),
        ({"batch": "10"}, "batch must be 1 to 10000, not '10'"),
        ({"batch": 0}, "batch must be 1 to 10000, not 0"),
    ],
)
def test_what_is_no_name_or_number_is_refused_at_registration(options: dict[str, Any], said: str) -> None:
    with pytest.raises(AppError, match=said):
        App("shop").handler(**{"queue": "orders"} | options)


def test_handlers_of_subscriptions_may_be_async(shop: Db, dsn: str) -> None:
    one(shop, "select howdah.create_topic('news')")
    app = App("shop")
    app.subscribe("news", name="s")(brew)
    drain(app, dsn)
    one(shop, "select howdah.send('news', 'x'::text)")
    assert drain(app, dsn).handled == 1
    assert column(shop, "select item from brewed") == ["x"]


def test_an_async_test_may_run_an_async_handler(shop: Db, dsn: str) -> None:
    app = App("shop")
    app.handler("orders")(brew)
    send(shop, "mocha")

    async def test() -> None:
        assert run_handler(app, make_message("x", queue="orders"), dsn).outcome == "consumed"
        assert drain(app, dsn).handled == 1

    asyncio.run(test())
    assert column(shop, "select item from brewed") == ["mocha"]


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


def test_the_example_of_the_docs_runs(shop: Db, dsn: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "async-handlers.md").read_text()
    names: dict[str, Any] = {}
    exec(page.split("```python\n")[1].split("```")[0], names)  # noqa: S102 - our own page
    shop.execute("create table charged (total integer)")
    ran = run_handler(
        names["app"],
        make_message({"items": ["tea", "mocha"]}, queue="orders"),
        dsn,
        look=lambda transaction: transaction.connection.execute("select total from charged").fetchall(),
    )
    assert ran.seen == [(8,)]


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
