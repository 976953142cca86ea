"""Workers keep what handlers return, if the queue keeps results."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from support import Db, column, one

from howdah.engine import Call, Incident, Session, calls
from howdah.engine.calls import results as kept_results
from howdah.engine.calls.results import keeps_results
from howdah.engine.database.runner import run
from howdah.testing import drain
from howdah.workers import App, Message, Transaction, calling
from howdah.workers.delivery import Delivery
from howdah.workers.guard import HandlerConnection
from howdah.workers.in_hand import Hands


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


def test_in_a_batch_each_message_has_its_own_result_whichever_of_them_fails(kept: Db, dsn: str, tmp_path: Path) -> None:
    """Together at first, then apart: what was rolled back with its batch left no result."""
    app = App("shop")
    called: list[str] = []

    @app.handler("orders", batch=10)
    def brew(message: Message, transaction: Transaction) -> Any:
        called.append(str(message.body))
        if message.body == "bad":
            raise ValueError("no milk")
        return message.body

    def record(queue: str, failures: list[dict[str, Any]], in_hand: bool) -> list[Incident]:
        return run(kept, calls.record_failures(queue, failures, in_hand=in_hand))

    numbers = send(kept, "a", "bad", "b", "bad", "c")
    hands = Hands.create(tmp_path / "hands", 1)
    with HandlerConnection.open(dsn, "results") as connection:
        delivery = Delivery(app.bindings["orders"], 0, worker="w", hands=hands, slot=0, record=record)
        while any(state == "waiting" for state, _ in results(kept, numbers)):
            delivery.run_once(connection)
    assert results(kept, numbers) == [("done", "a"), ("failed", None), ("done", "b"), ("failed", None), ("done", "c")]
    assert called.count("a") == 2  # its first result was rolled back with the batch


def test_a_queue_that_begins_to_keep_results_is_noticed_without_a_statement_a_message(
    db: Db, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.execute("select howdah.create_queue('orders')")
    asked: list[str] = []

    def noted(queue: str) -> Call[bool]:
        asked.append(queue)
        return keeps_results(queue)

    monkeypatch.setattr(kept_results, "keeps_results", noted)
    app = App("shop")

    @app.handler("orders")
    def brew(message: Message, transaction: Transaction) -> Any:
        return message.body

    numbers = send(db, *"abc")
    assert drain(app, dsn).handled == 3
    assert asked == ["orders"]
    db.execute("""select howdah.alter_queue('orders', '{"keep_results_ms": 1000000}')""")
    numbers += send(db, "d")
    monkeypatch.setattr(calling, "KEEPING_SECONDS", 0)
    assert drain(app, dsn).handled == 1
    assert results(db, numbers) == [("unknown", None)] * 3 + [("done", "d")]
