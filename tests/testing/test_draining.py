"""An app is drained in this thread: in order, with a worker's rules, until nothing is left to receive."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from support import Connect, Db, column, one

from howdah.engine.errors import NoSuchQueue, NotAllowed, ReceivingPaused
from howdah.testing import DrainError, drain
from howdah.workers import App, Message, Retry, Transaction


class Shop:
    """An app whose handlers write down what they get."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.app = App("shop")
        self.app.handler("orders", batch=100)(self.brew)
        self.app.handler("served")(self.note)

    def note(self, message: Message, transaction: Transaction) -> None:
        self.seen.append(f"{message.queue} {message.data} {message.delivery_count}")

    def brew(self, message: Message, transaction: Transaction) -> None:
        self.note(message, transaction)
        body = str(message.body)
        if body == "bad" or (body == "once" and not message.redelivered):
            raise ValueError(f"{body} cannot be brewed")
        if body == "wait" and not message.redelivered:
            raise Retry(after=0.3)
        transaction.session.send("served" if body != "loop" else "orders", body)


@pytest.fixture
def shop(db: Db) -> Shop:
    options = '{"max_failed_deliveries": 2, "redelivery_delay_ms": 600000}'
    db.execute(f"select howdah.create_queue('orders', '{options}'), howdah.create_queue('served')".encode())
    return Shop()


def send(db: Db, *bodies: str, **options: str) -> None:
    for body in bodies:
        one(db, "select howdah.send('orders', %s::text)", (body,))


def test_what_handlers_send_is_handled_too_and_the_order_is_fixed(shop: Shop, db: Db, dsn: str) -> None:
    send(db, "a", "b", "c")
    drained = drain(shop.app, dsn)
    assert shop.seen == ["orders a 1", "orders b 1", "orders c 1", "served a 1", "served b 1", "served c 1"]
    assert (drained.handled, drained.failures, drained.left) == (6, [], {})
    assert drain(shop.app, dsn).handled == 0
    assert one(db, "select sum(consumed) from howdah.queue_stats()") == 6


def test_a_failure_is_recorded_and_raised_with_its_traceback_once_all_is_done(shop: Shop, db: Db, dsn: str) -> None:
    send(db, "bad", "fine")
    with pytest.raises(DrainError, match="ValueError: bad cannot be brewed") as raised:
        drain(shop.app, dsn)
    drained = raised.value.drained
    assert [(one.queue, one.error_class, one.attempt, one.outcome) for one in drained.failures] == [
        ("orders", "ValueError", 1, "delayed"),
        ("orders", "ValueError", 2, "moved"),
    ]
    assert shop.seen == ["orders bad 1", "orders fine 1", "served fine 1", "orders bad 2"]
    assert drained.handled == 2
    assert column(db, "select error_text from howdah.incidents() order by incident_id") == ["bad cannot be brewed"] * 2


def test_a_failure_inside_a_block_that_is_left_open_is_raised_like_any_other(db: Db, dsn: str) -> None:
    db.execute("select howdah.create_queue('orders', '{\"max_failed_deliveries\": 2}')")
    app, kept = App("shop"), ExitStack()

    @app.handler("orders")
    def brew(message: Message, transaction: Transaction) -> None:
        if message.body == "bad":
            kept.enter_context(transaction.connection.transaction())
            raise ValueError("inside a block")

    send(db, "bad", "good")
    with pytest.raises(DrainError, match="ValueError: inside a block") as raised:
        drain(app, dsn)
    assert raised.value.drained is not None
    assert (raised.value.drained.handled, len(raised.value.drained.failures)) == (1, 2)


def test_a_handlers_time_limit_holds(shop: Shop, db: Db, dsn: str) -> None:
    def slow(message: Message, transaction: Transaction) -> None:
        if not message.redelivered:
            transaction.connection.execute("select pg_sleep(60)")

    before = set(threading.enumerate())
    app = App()
    app.handler("orders", time_limit=0.2)(slow)
    send(db, "a")
    drained = drain(app, dsn, check=False)
    assert [(one.error_class, one.outcome) for one in drained.failures] == [("HandlerTimeout", "delayed")]
    assert (drained.handled, drained.left) == (1, {})
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive(), "what watches ends with the drain"


def test_failures_that_are_meant_are_returned(shop: Shop, db: Db, dsn: str) -> None:
    send(db, "once")
    drained = drain(shop.app, dsn, check=False)
    assert [one.outcome for one in drained.failures] == ["delayed"]
    assert shop.seen == ["orders once 1", "orders once 2", "served once 1"]


def test_delays_are_skipped_in_the_order_in_which_they_end(shop: Shop, db: Db, dsn: str) -> None:
    for body, delay in (("last", "1 day"), ("second", "1 hour"), ("first", "1 second")):
        one(db, "select howdah.send('orders', %s::text, delay => %s::interval)", (body, delay))
    drain(shop.app, dsn)
    assert [seen for seen in shop.seen if seen.startswith("orders")] == [
        "orders first 1",
        "orders second 1",
        "orders last 1",
    ]


def test_delays_are_waited_for(shop: Shop, db: Db, dsn: str) -> None:
    send(db, "wait")
    begun = time.monotonic()
    drained = drain(shop.app, dsn, delays="wait", check=False)
    assert time.monotonic() - begun >= 0.3
    assert shop.seen == ["orders wait 1", "orders wait 2", "served wait 1"]
    assert drained.left == {}
    one(db, "select howdah.send('orders', 'tomorrow'::text, delay => interval '1 day')")
    with pytest.raises(DrainError, match=r"not empty after 0\.1 seconds"):
        drain(shop.app, dsn, delays="wait", timeout=0.1)


def test_delays_are_left(shop: Shop, db: Db, dsn: str) -> None:
    send(db, "once", "fine")
    drained = drain(shop.app, dsn, delays="leave", check=False)
    assert (shop.seen, drained.left) == (["orders once 1", "orders fine 1", "served fine 1"], {"orders": 1})


def test_a_queue_that_never_ends_ends_at_the_limit(shop: Shop, db: Db, dsn: str) -> None:
    send(db, "loop")
    with pytest.raises(DrainError, match="not empty after 20 deliveries"):
        drain(shop.app, dsn, limit=20)


def test_what_is_in_other_hands_is_waited_for_and_said(shop: Shop, db: Db, dsn: str) -> None:
    send(db, "held")
    with psycopg.connect(dsn) as other:
        other.execute("select * from howdah.receive('orders')")
        with pytest.raises(DrainError, match="queue orders has messages that cannot be received now"):
            drain(shop.app, dsn, timeout=0.1)
        other.rollback()
    assert drain(shop.app, dsn).handled == 2


def test_what_a_worker_would_try_again_is_raised(shop: Shop, db: Db, dsn: str) -> None:
    def locked(message: Message, transaction: Transaction) -> None:
        raise psycopg.errors.LockNotAvailable("elsewhere")

    app = App()
    app.handler("orders")(locked)
    send(db, "a")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        drain(app, dsn)
    assert one(db, "select count(*) from howdah.incidents()") == 0
    one(db, "select howdah.pause('orders')")
    with pytest.raises(ReceivingPaused):
        drain(app, dsn)
    missing = App()
    missing.handler("nowhere")(locked)
    with pytest.raises(NoSuchQueue):
        drain(missing, dsn)


def test_subscriptions_are_drained_from_the_first_time_on(db: Db, dsn: str) -> None:
    one(db, "select howdah.create_topic('prices')")
    seen: list[Any] = []
    app = App()
    app.subscribe("prices", name="billing")(lambda message, transaction: seen.append(message.body))
    assert drain(app, dsn).handled == 0
    one(db, "select howdah.send('prices', 'dear'::text)")
    assert drain(app, dsn).handled == 1
    assert seen == ["dear"]


def test_a_stopped_listener_and_a_blocked_message_are_left(db: Db, dsn: str) -> None:
    one(db, """select howdah.create_queue('blocked', '{"max_failed_deliveries": 1, "exception_mode": "none"}')""")
    one(db, "select howdah.create_queue('stopping')")

    def fail(message: Message, transaction: Transaction) -> None:
        raise ValueError("no")

    app = App()
    app.handler("blocked")(fail)
    app.handler("stopping", listener="door", stop_on_failure=True)(fail)
    for queue in ("blocked", "stopping"):
        one(db, "select howdah.send(%s, 'x'::text)", (queue,))
    drained = drain(app, dsn, check=False)
    assert [failure.queue for failure in drained.failures] == ["blocked", "stopping"]
    assert drained.left == {"blocked": 1, "stopping": 1}


def test_skipping_delays_needs_an_administrator(shop: Shop, connect: Connect, db: Db, dsn: str) -> None:
    connect("howdah_consumer").close()
    one(db, "select howdah.send('orders', 'later'::text, delay => interval '1 day')")
    consumer = make_conninfo(dsn, options="-c role=howdah_consumer")
    with pytest.raises(NotAllowed):
        drain(shop.app, consumer)
    assert drain(shop.app, consumer, delays="leave").left == {"orders": 1}
    assert shop.seen == []
