"""What tests of full queues import: sends until one is full, what lies there, and sessions at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
from support import Connect, Db, one, receive

SEND = "select howdah.send('q', %s)"


def depth(db: Db, queue: str = "q") -> int:
    """The messages that lie in a queue, whatever they wait for."""
    counted: int = one(db, "select live + parked from howdah.queue_stats(%s)", (queue,))
    return counted


def bodies(db: Db, queue: str = "q") -> list[str | None]:
    return [message.body for message in receive(db, queue, 100, verb="browse")]


def until_full(db: Db, body: str = "x", code: str = "HD018") -> int:
    """Send until a refusal with this code, which says by default that the queue is full; how many were accepted."""
    for accepted in range(100_000):
        try:
            one(db, SEND, (body,))
        except psycopg.Error as error:
            if error.sqlstate != code:
                raise
            return accepted
    raise AssertionError("it never was full")


def together(connect: Connect, count: int, act: Callable[[Db, int], int]) -> list[int]:
    """Run an act in so many sessions at once."""
    sessions = [connect() for _ in range(count)]
    start = threading.Barrier(count)

    def run(number: int) -> int:
        start.wait()
        return act(sessions[number], number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))
