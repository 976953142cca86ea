"""How a batch with bad messages is handled: together then apart, as workers do, against the simpler ways."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from howdah.engine import Incident, Message, calls
from howdah.engine.runner import run
from howdah.workers import App, Transaction
from howdah.workers.delivery import Delivery
from howdah.workers.guard import HandlerConnection
from howdah.workers.hands import Hands
from howdah.workers.ways import Way

MESSAGES = 6000
BATCH = 100
QUEUE = "batches"


def application() -> App:
    """A handler with one statement, which fails on messages that say so."""
    app = App("bench")

    @app.handler(QUEUE, batch=BATCH)
    def handle(message: Message, transaction: Transaction) -> None:
        transaction.connection.execute("insert into bench.handled values (%s)", (message.message_id,))
        if message.body == "bad":
            raise ValueError("bad message")

    return app


def bodies(bad: str) -> list[str]:
    """MESSAGES bodies: none bad, every third batch with three bad ones, or whole batches of bad ones."""
    out = ["good"] * MESSAGES
    for batch in range(0, MESSAGES, BATCH):
        number = batch // BATCH
        if bad == "every third batch" and number % 3 == 0:
            for at in (7, 40, 77):
                out[batch + at] = "bad"
        if bad == "one batch in ten, wholly" and number % 10 == 0:
            out[batch : batch + BATCH] = ["bad"] * BATCH
    return out


def drain(dsn: str, bad: str, pin: Callable[[Delivery], None]) -> float:
    """Seconds to drain the queue through a Delivery whose way ``pin`` may hold fast."""
    binding = application().bindings[QUEUE]
    with (
        HandlerConnection.open(dsn, "bench") as connection,
        psycopg.connect(dsn, autocommit=True) as recording,
        tempfile.NamedTemporaryFile() as file,
    ):
        recording.execute("truncate bench.handled")
        run(recording, calls.send_many(QUEUE, bodies(bad)))
        hands = Hands.create(Path(file.name), 1)

        def record(queue: str, failures: list[dict[str, Any]], in_hand: bool) -> list[Incident]:
            return run(recording, calls.record_failures(queue, failures, in_hand=in_hand))

        delivery = Delivery(binding, 0, worker="bench", hands=hands, slot=0, record=record)
        started = time.perf_counter()
        while True:
            pin(delivery)
            done = delivery.run_once(connection)
            if done.handled + done.failed == 0:
                break
        seconds = time.perf_counter() - started
        hands.close()
    return seconds


def _adaptive(delivery: Delivery) -> None:
    pass


def _apart(delivery: Delivery) -> None:
    delivery._way = Way.APART


def _singly(delivery: Delivery) -> None:
    delivery._way, delivery._singly_left = Way.SINGLY, 2


WAYS: dict[str, Callable[[Delivery], None]] = {
    "as workers do": _adaptive,
    "savepoints always": _apart,
    "one by one": _singly,
}
KINDS = ("none", "every third batch", "one batch in ten, wholly")


def measure(dsn: str, rounds: int) -> list[tuple[str, str, float]]:
    """(bad messages, way, median messages a second), the ways in turn."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("create table if not exists bench.handled (id bigint)")
        connection.execute("select howdah.create_queue(%s)", (QUEUE,))
    results = []
    for bad in KINDS:
        seconds: dict[str, list[float]] = {way: [] for way in WAYS}
        for _ in range(rounds):
            for way, pin in WAYS.items():
                seconds[way].append(drain(dsn, bad, pin))
        results += [(bad, way, MESSAGES / median(taken)) for way, taken in seconds.items()]
    return results
