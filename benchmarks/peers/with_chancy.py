"""Chancy with its asyncio executor, which has no cost of processes."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from chancy import Chancy, Queue, Worker, job

from .contract import BODY, main, tally


@job(queue="bench")  # type: ignore[untyped-decorator]
async def noop(body: str) -> None:
    """The handler."""
    tally.add()


def application(dsn: str) -> Any:
    """The app, silent."""
    silent = logging.getLogger("silent")
    silent.addHandler(logging.NullHandler())
    silent.propagate = False
    return Chancy(dsn, log=silent)


class ChancyPeer:
    """Its verbs."""

    async def install(self, dsn: str) -> None:
        async with application(dsn) as chancy:
            await chancy.migrate()

    async def send(self, dsn: str, messages: int, batch: int) -> float:
        async with application(dsn) as chancy:
            work = noop.job.with_kwargs(body=BODY)
            started = time.perf_counter()
            async for _ in chancy.push_many([work] * messages, batch_size=batch):
                pass
            return time.perf_counter() - started

    async def work(self, dsn: str, best: bool, until: Callable[[Any], Awaitable[None]]) -> None:
        executor = "chancy.executors.asyncex.AsyncExecutor"
        queue = Queue(name="bench", executor=executor)
        if best:
            queue = Queue(name="bench", executor=executor, concurrency=500, polling_interval=1, eager_polling=True)
        async with application(dsn) as chancy:
            await chancy.declare(queue, upsert=True)
            async with Worker(chancy, register_signal_handlers=False):
                await until(lambda: chancy.push(noop.job.with_kwargs(body=BODY)))


if __name__ == "__main__":
    main(ChancyPeer())
