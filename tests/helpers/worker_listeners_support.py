"""What tests of workers' listeners import: the listener, its queue's limit, its state and a handler."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb
from support import one
from workers_support import Work

from howdah.engine import Message
from howdah.workers import Transaction


def create(jobs: Work, **options: Any) -> None:
    one(jobs.db, "select howdah.create_listener('l', 'work', %s)", (Jsonb(options),))


def limit(jobs: Work, failures: int, **options: int) -> None:
    """The queue's threshold, and other options of it."""
    one(jobs.db, "select howdah.alter_queue('work', %s)", (Jsonb({"max_failed_deliveries": failures, **options}),))


def state(jobs: Work) -> tuple[int, str]:
    (row,) = jobs.db.execute("select failures, status from howdah.list_listeners('l')").fetchall()
    return row[0], row[1]


def by_body(message: Message, transaction: Transaction) -> None:
    """Fail, break a deferred constraint, or be content."""
    if message.body == "violate":
        transaction.connection.execute("insert into work.checked values (1), (1)")
    elif message.body != "good":
        raise ValueError(str(message.body))
