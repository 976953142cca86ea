"""An application of Celery, as tests' workers run it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import psycopg
from celery import Celery, Task

app = Celery("shop")
BROKER: dict[str, Any] = {
    "broker_transport": "howdah.kombu:Transport",
    "broker_transport_options": {"lease_seconds": float(os.environ.get("SHOP_LEASE_SECONDS", "60"))},
}
if "SHOP_PGMQ" in os.environ:  # kombu's own transport for pgmq, which the URL names
    BROKER = {"broker_transport_options": {"init_extension": False, "wait_time_seconds": 0, "polling_interval": 0.05}}

app.conf.update(
    **BROKER,
    broker_url=os.environ["SHOP_BROKER"],
    result_backend=os.environ["SHOP_RESULTS"],
    broker_connection_retry_on_startup=True,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    worker_prefetch_multiplier=int(os.environ.get("SHOP_PREFETCH", "1")),
    result_extended=True,
)


def note(what: str) -> None:
    """Have it on record that a task was here."""
    with psycopg.connect(os.environ["SHOP_DSN"]) as connection:
        connection.execute("insert into ran (what, pid) values (%s, %s)", (what, os.getpid()))


@app.task
def add(x: int, y: int) -> int:
    return x + y


@app.task
def total(numbers: list[int]) -> int:
    return sum(numbers)


@app.task
def record(what: str) -> None:
    note(what)


@app.task
def linger(what: str, gate: str) -> None:
    """Run until a file is there."""
    note(what)
    while not Path(gate).exists():
        time.sleep(0.02)


@app.task(acks_late=True)
def linger_late(what: str, gate: str) -> None:
    note(what)
    while not Path(gate).exists():
        time.sleep(0.02)


@app.task(acks_late=True, reject_on_worker_lost=True)
def die(what: str) -> None:
    """Kill the process of the pool that runs it."""
    note(what)
    os.kill(os.getpid(), signal.SIGKILL)


@app.task(bind=True, max_retries=2)
def stumble(self: Task, what: str) -> int:
    note(what)
    if self.request.retries < 2:
        raise self.retry(countdown=0.1)
    return int(self.request.retries)


@app.task(acks_late=True, acks_on_failure_or_timeout=False)
def fail(what: str) -> None:
    note(what)
    raise ValueError("no such street")
