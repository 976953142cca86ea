"""Open consumers of the queue q: what they are sent, what they take, and how they go."""

from __future__ import annotations

from typing import Any

from support import Db, column, one, wait_until


def send(db: Db, *bodies: Any) -> None:
    for body in bodies:
        one(db, "select howdah.send('q', %s)", (str(body),))


def take(db: Db, n: int = 100, consumer: int | None = None) -> list[str]:
    return column(db, "select body from howdah.receive('q', %s, consumer => %s)", (n, consumer))


def open_consumer(db: Db, **options: Any) -> int:
    names = "".join(f", {name} => %s" for name in options)
    number: int = one(db, f"select howdah.open_consumer('q'{names})", tuple(options.values()))
    return number


def close(db: Db, consumer: int) -> bool:
    closed: bool = one(db, "select howdah.close_consumer(%s)", (consumer,))
    return closed


def kill(db: Db, connection: Db) -> None:
    pid = connection.info.backend_pid
    one(db, "select pg_terminate_backend(%s)", (pid,))
    wait_until(lambda: one(db, "select count(*) = 0 from pg_stat_activity where pid = %s", (pid,)))
