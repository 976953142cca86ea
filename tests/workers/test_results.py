"""Workers keep what handlers return, if the queue keeps results."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from support import Db, column, one

from howdah.engine import Session
from howdah.testing import drain
from howdah.workers import App, Message, Transaction


@pytest.fixture
def kept(db: Db) -> Db:
    db.execute("""select howdah.create_queue('orders', '{"keep_results_ms": 60000, "max_failed_deliveries": 1}')""")
    return db


def send(db: Db, *bodies: str) -> list[int]:
    return [one(db, "select howdah.send('orders', %s::text)", (body,)) for body in bodies]


def results(db: Db, numbers: list[int]) -> list[tuple[str, Any]]:
    session = Session(db)
    return [(found.state, found.value) for found in (session.result("orders", number) for number in numbers)]


def test_what_plain_and_async_handlers_return_is_kept(kept: Db, dsn: str) -> None:
    app = App("shop")

    @app.handler("orders")
    def brew(message: Message, transaction: Transaction) -> Any:
        return None if message.body == "none" else {"brewed": message.body}

    @app.handler("orders", message_type="later")
    async def later(message: Message, transaction: Transaction) -> list[int]:
        await asyncio.sleep(0)
        return [1, 2]

    numbers = send(kept, "mocha", "none")
    numbers.append(one(kept, "select howdah.send('orders', 'x', message_type => 'later')"))
    assert drain(app, dsn).handled == 3
    assert results(kept, numbers) == [("done", {"brewed": "mocha"}), ("done", None), ("done", [1, 2])]


def test_what_cannot_be_json_or_is_too_large_is_a_failed_delivery_that_says_so(kept: Db, dsn: str) -> None:
    kept.execute("""select howdah.alter_queue('orders', '{"max_message_bytes": 50}')""")
    app = App("shop")

    @app.handler("orders")
    def brew(message: Message, transaction: Transaction) -> Any:
        return {"object": object(), "nan": float("nan"), "long": 60 * "x", "good": 1}[str(message.body)]

    numbers = send(kept, "object", "good", "nan", "long")
    drained = drain(app, dsn, check=False)
    assert drained.handled == 1
    assert [state for state, _ in results(kept, numbers)] == ["failed", "done", "failed", "failed"]
    texts = column(kept, "select error_text from howdah.poison_details order by incident_id")
    assert sorted(re.split("[:(]", text)[0].strip() for text in texts) == [
        "a result of 62 bytes exceeds max_message_bytes of queue 'orders', 50",
        "a value of type float cannot be JSON",
        "a value of type object cannot be JSON",
    ]


def test_a_queue_without_the_option_stores_nothing_whatever_is_returned(db: Db, dsn: str) -> None:
    db.execute("select howdah.create_queue('orders')")
    app = App("shop")

    @app.handler("orders")
    def brew(message: Message, transaction: Transaction) -> Any:
        return object()

    numbers = send(db, "a")
    assert drain(app, dsn).handled == 1
    assert results(db, numbers) == [("unknown", None)]
    assert one(db, "select count(*) from howdah.results") == 0
