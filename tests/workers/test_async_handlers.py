"""Handlers that are async def: run to their end, in their message's transaction, with the rules of plain ones."""

from __future__ import annotations

import asyncio
import functools
from pathlib import Path
from typing import Any

import psycopg
import pytest
from async_handlers_support import Brewer, brew, send
from support import Db, column, one

from howdah.testing import drain, make_message, run_handler
from howdah.workers import App, Message, Reject, Retry, Transaction


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
