"""pgmq through its SQL functions, which its Python package brings as a script: read and delete by the hundred."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

import psycopg

from .contract import BODY, LIMIT, main, tally

JSON = json.dumps({"body": BODY})
READ = "select msg_id, message from pgmq.read('bench', 60, %s)"
DELETE = "select count(*) from pgmq.delete('bench', %s::bigint[])"


class Pgmq:
    """Its verbs. It has no worker of its own: this loop is what its users write."""

    async def install(self, dsn: str) -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(b"create schema if not exists pgmq")
            connection.execute((files("pgmq") / "sql" / "pgmq.sql").read_bytes())
            connection.execute("select pgmq.create('bench')")

    async def send(self, dsn: str, messages: int, batch: int) -> float:
        with psycopg.connect(dsn, autocommit=True) as connection:
            started = time.perf_counter()
            for _ in range(messages // batch):
                connection.execute("select pgmq.send_batch('bench', %s::jsonb[])", ([JSON] * batch,))
            return time.perf_counter() - started

    async def work(self, dsn: str, best: bool, until: Callable[[Any], Awaitable[None]]) -> None:
        size = 100 if best else 1
        with psycopg.connect(dsn, autocommit=True) as connection:
            while rows := connection.execute(READ, (size,), prepare=True).fetchall():
                for _ in rows:
                    tally.add()
                connection.execute(DELETE, ([row[0] for row in rows],), prepare=True)
                if tally.last - tally.first > LIMIT:
                    break
        await until(None)


if __name__ == "__main__":
    main(Pgmq())
