"""PgQ through its SQL functions: events inserted by arrays, ticks, and one consumer that takes batch after batch."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg

from .contract import BODY, main

Db = psycopg.Connection[Any]

INSERT = "select count(pgq.insert_event('bench', 'noop', body)) from unnest(%s::text[]) body"
#: Ticks are made here, each by one call: neither age nor count of what has come decides, as pgqd would.
CONFIG = (("ticker_max_count", "1"), ("ticker_max_lag", "1 hour"), ("ticker_idle_period", "1 hour"))
#: Where a batch's events are read: counted in the server, or fetched.
READ = {
    "server": "select count(*) from pgq.get_batch_events(%s)",
    "client": "select ev_id, ev_data from pgq.get_batch_events(%s)",
}


def insert(connection: Db, messages: int, batch: int) -> None:
    """Transactions of so many events."""
    for _ in range(messages // batch):
        connection.execute(INSERT, ([BODY] * batch,))


def tick(connection: Db) -> None:
    """End a batch."""
    connection.execute("select pgq.ticker('bench')")


def read(connection: Db, where: str) -> int:
    """Read and finish one batch as a consumer does, in two transactions. Returns the number of events, -1 if none."""
    (batch,) = connection.execute("select pgq.next_batch('bench', 'reader')").fetchone() or (None,)
    if batch is None:
        return -1
    with connection.transaction():
        rows = connection.execute(READ[where], (batch,)).fetchall()
        connection.execute("select pgq.finish_batch(%s)", (batch,))
    return len(rows) if where == "client" else int(rows[0][0])


class Pgq:
    """Its verbs."""

    async def install(self, dsn: str) -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("create extension pgq")
            connection.execute("select pgq.create_queue('bench')")
            for name, value in CONFIG:
                connection.execute("select pgq.set_queue_config('bench', %s, %s)", (name, value))
            tick(connection)
            connection.execute("select pgq.register_consumer('bench', 'reader')")

    async def send(self, dsn: str, messages: int, batch: int) -> float:
        with psycopg.connect(dsn, autocommit=True) as connection:
            started = time.perf_counter()
            insert(connection, messages, batch)
            return time.perf_counter() - started

    async def stream(self, dsn: str, where: str, events: int, a_tick: int, each: int) -> dict[str, float]:
        """Write the events, ``each`` a transaction and ``a_tick`` a tick. Then read all in order by one consumer."""
        with psycopg.connect(dsn, autocommit=True) as connection:
            for _ in range(events // a_tick + 1):
                insert(connection, a_tick, each)
                tick(connection)
            connection.execute("vacuum analyze")
            while read(connection, where) < a_tick:  # the first call plans
                pass
            started = time.perf_counter()
            count = 0
            while (found := read(connection, where)) >= 0:
                count += found
            return {"seconds": time.perf_counter() - started, "count": count}

    async def work(self, dsn: str, best: bool, until: Callable[[Any], Awaitable[None]]) -> None:
        raise NotImplementedError("PgQ hands out batches, which are finished as a whole")


if __name__ == "__main__":
    main(Pgq())
