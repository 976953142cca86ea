"""PgQueuer over asyncpg, its faster driver."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import uvloop
from pgqueuer import AsyncpgDriver, PgQueuer, Queries

from .contract import BODY, main, tally

PAYLOAD = BODY.encode()


class Pgqueuer:
    """Its verbs."""

    async def install(self, dsn: str) -> None:
        connection = await asyncpg.connect(dsn)
        await Queries(AsyncpgDriver(connection)).install()

    async def send(self, dsn: str, messages: int, batch: int) -> float:
        queries = Queries(AsyncpgDriver(await asyncpg.connect(dsn)))
        started = time.perf_counter()
        for _ in range(messages // batch):
            await queries.enqueue(["noop"] * batch, [PAYLOAD] * batch, [0] * batch)
        return time.perf_counter() - started

    async def work(self, dsn: str, best: bool, until: Callable[[Any], Awaitable[None]]) -> None:
        worker = PgQueuer(AsyncpgDriver(await asyncpg.connect(dsn)))
        sender = Queries(AsyncpgDriver(await asyncpg.connect(dsn)))

        @worker.entrypoint("noop")  # type: ignore[untyped-decorator]
        async def noop(job: Any) -> None:
            tally.add()

        settings: dict[str, Any] = {"batch_size": 1000} if best else {}
        running = asyncio.create_task(worker.run(**settings))
        await until(lambda: sender.enqueue("noop", PAYLOAD))
        running.cancel()


if __name__ == "__main__":
    uvloop.install()
    main(Pgqueuer())
