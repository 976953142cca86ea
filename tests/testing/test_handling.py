"""One handler is run as a worker would run it, what it did is told, and nothing of it is left."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from support import Connect, Db, one

from howdah.engine.errors import IllegalState, NotAllowed
from howdah.testing import make_message, run_handler
from howdah.workers import App, AppError, Message, Reject, Retry, Transaction
from howdah.workers.app import UnknownMessageType
from howdah.workers.time_limits import HandlerTimeout
from howdah.workers.transaction import RollbackOnly

app = App("shop")


@app.handler("orders", rules=[(KeyError, Reject("a field is missing")), (TimeoutError, Retry(after=30))])
def brew(message: Message, transaction: Transaction) -> None:
    transaction.connection.execute("insert into brewed values (%s)", (message.data["item"],))
    transaction.session.send("served", message.data, priority=9)
    transaction.session.send("served", "later", delay=3600)
    if message.redelivered:
        raise TimeoutError("again")


@app.handler("orders", message_type="other")
def refuse(message: Message, transaction: Transaction) -> None:
    raise {"set": ValueError, "lock": psycopg.errors.LockNotAvailable}[str(message.body)]("no")


@app.handler("questions", reply=True)
def answer(message: Message, transaction: Transaction) -> str:
    return str(message.body).upper()


@pytest.fixture
def shop(db: Db) -> Db:
    db.execute(
        "create table brewed (item text check (item <> 'water'),"
        " n integer unique deferrable initially deferred default 1);"
        " select howdah.create_queue('served'); select howdah.send('served', 'of before'::text)"
    )
    return db


def untouched(db: Db) -> bool:
    return (one(db, "select count(*) from brewed"), one(db, "select enqueued from howdah.queue_stats('served')")) == (
        0,
        1,
    )


def test_it_tells_what_was_sent_and_seen_and_leaves_nothing(shop: Db, dsn: str) -> None:
    def look(transaction: Transaction) -> Any:
        return transaction.connection.execute("select item from brewed").fetchall()

    ran = run_handler(app, make_message({"item": "mocha"}, queue="orders"), dsn, look=look)
    assert (ran.outcome, ran.error, ran.seen) == ("consumed", None, [("mocha",)])
    assert [(one.queue, one.data, one.priority) for one in ran.sent] == [
        ("served", {"item": "mocha"}, 9),
        ("served", "later", 4),
    ]
    assert untouched(shop)


def test_what_the_handler_raises_is_raised(shop: Db, dsn: str) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        run_handler(app, make_message({"item": "water"}, queue="orders"), dsn)
    with pytest.raises(KeyError):
        run_handler(app, make_message({}, queue="orders"), dsn)
    assert untouched(shop)


@pytest.mark.parametrize(
    ("message", "outcome", "error", "delay"),
    [
        (make_message({"item": "water"}, queue="orders"), "failed", psycopg.errors.CheckViolation, None),
        (make_message({}, queue="orders"), "rejected", KeyError, None),
        (make_message({"item": "mocha"}, queue="orders", delivery_count=2), "failed", TimeoutError, 30.0),
        (make_message("set", queue="orders", message_type="other"), "failed", ValueError, None),
        (make_message("lock", queue="orders", message_type="other"), "retried", psycopg.errors.LockNotAvailable, None),
    ],
)
def test_it_tells_what_a_worker_would_make_of_an_error(
    shop: Db, dsn: str, message: Message, outcome: str, error: type[Exception], delay: float | None
) -> None:
    ran = run_handler(app, message, dsn, check=False)
    assert (ran.outcome, type(ran.error), ran.delay, ran.sent) == (outcome, error, delay, [])
    assert untouched(shop)
    assert one(shop, "select count(*) from howdah.incidents()") == 0


@pytest.mark.parametrize(
    "error", [SystemExit(3), asyncio.CancelledError(), BaseExceptionGroup("both", [SystemExit(3)])], ids=repr
)
def test_what_is_no_exception_fails_a_delivery_as_with_a_worker(shop: Db, dsn: str, error: BaseException) -> None:
    def handle(message: Message, transaction: Transaction) -> None:
        raise error

    message = make_message("x", queue="orders")
    ran = run_handler(handle, message, dsn, check=False)
    assert (ran.outcome, ran.error) == ("failed", error)
    with pytest.raises(type(error)):
        run_handler(handle, message, dsn)


@pytest.mark.first_case
@pytest.mark.parametrize("how", ["sql", "python", "async"])
def test_a_handlers_time_limit_holds(shop: Db, dsn: str, how: str) -> None:
    limited = App()

    @limited.handler("orders", time_limit=0.2)
    def slow(message: Message, transaction: Transaction) -> None:
        if how == "sql":
            transaction.connection.execute("select pg_sleep(60)")
        time.sleep(0.3)  # past its limit

    @limited.handler("orders", message_type="async", time_limit=0.2)
    async def waits(message: Message, transaction: Transaction) -> None:
        await asyncio.sleep(60)

    message = make_message("a", queue="orders", message_type=how)
    begun = time.monotonic()
    ran = run_handler(limited, message, dsn, check=False)
    assert (ran.outcome, type(ran.error)) == ("failed", HandlerTimeout)
    with pytest.raises(HandlerTimeout, match=r"longer than its time limit of 0\.2 s"):
        run_handler(limited, message, dsn)
    assert time.monotonic() - begun < 30


def test_a_function_alone_obeys_the_rules_of_workers(shop: Db, dsn: str) -> None:
    def commits(message: Message, transaction: Transaction) -> None:
        transaction.connection.execute("insert into brewed values ('a')")
        transaction.connection.commit()

    def says_commit(message: Message, transaction: Transaction) -> None:
        transaction.connection.execute("commit")

    def swallows(message: Message, transaction: Transaction) -> None:
        with pytest.raises(psycopg.errors.DivisionByZero):
            transaction.connection.execute("select 1/0")

    def twice(message: Message, transaction: Transaction) -> None:
        transaction.connection.execute("insert into brewed values ('a'), ('b')")

    def gives_up(message: Message, transaction: Transaction) -> None:
        transaction.connection.rollback()

    def closes(message: Message, transaction: Transaction) -> None:
        transaction.connection.close()

    for handler, error in (
        (closes, RollbackOnly),
        (commits, psycopg.ProgrammingError),
        (says_commit, IllegalState),
        (swallows, RollbackOnly),
        (twice, psycopg.errors.UniqueViolation),
        (gives_up, RollbackOnly),
    ):
        with pytest.raises(error):
            run_handler(handler, make_message(), dsn)
        assert run_handler(handler, make_message(), dsn, check=False).outcome == "failed"
    assert untouched(shop)


def test_the_answer_to_a_message_is_among_what_was_sent(shop: Db, dsn: str) -> None:
    ran = run_handler(app, make_message("why", queue="questions", reply_to="served"), dsn)
    assert [(one.queue, one.body) for one in ran.sent] == [("served", "WHY")]


def test_it_needs_a_role_that_may_browse(shop: Db, dsn: str, connect: Connect) -> None:
    message = make_message("x", queue="served")
    for role in ("howdah_consumer", "howdah_producer"):
        connect(role).close()
    consumer, producer = (
        make_conninfo(dsn, options=f"-c role={role}") for role in ("howdah_consumer", "howdah_producer")
    )
    assert run_handler(lambda message, transaction: None, message, consumer).outcome == "consumed"
    with pytest.raises(NotAllowed):
        run_handler(lambda message, transaction: None, message, producer)


def test_a_message_without_a_handler_is_refused(shop: Db, dsn: str) -> None:
    with pytest.raises(AppError, match="no handler for queue elsewhere"):
        run_handler(app, make_message(queue="elsewhere"), dsn)
    typed = App()
    typed.handler("orders", message_type="known")(brew)
    with pytest.raises(UnknownMessageType):
        run_handler(typed, make_message(queue="orders"), dsn)
