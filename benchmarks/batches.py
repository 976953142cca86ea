"""How a batch with bad messages is handled: together then apart, as workers do, against the simpler ways."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from ..engine import Incident, Message, calls
from ..engine.database.runner import run
from ..workers import App, Transaction
from ..workers.batch_mode import BatchMode
from ..workers.delivery import Delivery
from ..workers.guard import HandlerConnection
from ..workers.in_hand import Hands
from .bench import QUEUE, Bench, opened
from .place import SCHEMA
from .record import OURS

BATCH = 100


INSERT = f"insert into {SCHEMA}.handled values (%s)".encode()


def application() -> App:
    """A handler with one statement, which fails on messages that say so."""
    app = App("bench")

    @app.handler(QUEUE, batch=BATCH)
    def handle(message: Message, transaction: Transaction) -> None:
        transaction.connection.execute(INSERT, (message.message_id,))
        if message.body == "bad":
            raise ValueError("bad message")

    return app


def bodies(bad: str, messages: int) -> list[str]:
    """Bodies: none bad, every third batch with three bad ones, whole batches of bad ones, or every tenth one bad."""
    out = ["good"] * messages
    for batch in range(0, messages, BATCH):
        number = batch // BATCH
        if bad == "every third batch" and number % 3 == 0:
            for at in (7, 40, 77):
                out[min(batch + at, messages - 1)] = "bad"
        if bad == "one batch in ten, wholly" and number % 10 == 0:
            out[batch : batch + BATCH] = ["bad"] * BATCH
    if bad == "every tenth message":
        out[9::10] = ["bad"] * (messages // 10)
    return out


def drain(dsn: str, bad: str, messages: int, pin: Callable[[Delivery], None]) -> float:
    """Seconds to drain the queue through a Delivery whose mode ``pin`` may hold fast."""
    binding = application().bindings[QUEUE]
    with (
        HandlerConnection.open(dsn, "bench") as connection,
        psycopg.connect(dsn, autocommit=True) as recording,
        tempfile.NamedTemporaryFile() as file,
    ):
        recording.execute(f"truncate {SCHEMA}.handled".encode())
        run(recording, calls.send_many(QUEUE, bodies(bad, messages)))
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
    delivery._mode = BatchMode.APART


def _singly(delivery: Delivery) -> None:
    delivery._mode, delivery._singly_left = BatchMode.SINGLY, 2


WAYS: dict[str, Callable[[Delivery], None]] = {
    OURS: _adaptive,
    "savepoints always": _apart,
    "one by one": _singly,
}
KINDS = ("none", "every third batch", "one batch in ten, wholly")


def measure(bench: Bench) -> None:
    """Each kind of badness, the ways in turn."""
    messages = max(BATCH, bench.size.messages // 4 // BATCH * BATCH)
    with bench.database() as dsn:
        with opened(dsn) as connection:
            connection.execute("create table handled (id bigint)")
        for bad in KINDS:
            for _ in range(bench.size.rounds):
                for way, pin in WAYS.items():
                    note(bench, "failures", way, dsn, bad, messages, pin)


def note(bench: Bench, row: str, who: str, dsn: str, bad: str, messages: int, pin: Callable[[Delivery], None]) -> None:
    """Drain the queue once, and note the rate and the CPU of the drain without its sends."""
    with bench.meter(dsn) as meter:
        seconds = drain(dsn, bad, messages, pin)
        end = time.time()
    bench.record.add(
        row,
        f"bad: {bad}",
        who,
        "/s",
        messages / seconds,
        cost=meter.cost(messages, end - seconds, end),
        transactions=messages // BATCH,
        few=f"each of {BATCH} messages",
    )
