"""Celery on Redis. Its tasks may run in processes of their own, so that they tell of each call through a pipe."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import struct
import time
from collections.abc import Awaitable, Callable
from typing import Any

from celery import Celery

from .contract import BODY, main, tally

TOLD = struct.Struct("d")
#: Every task that is run writes the time into it. Made before the worker's processes are.
READER, WRITER = os.pipe()
QUIETLY = {"loglevel": "CRITICAL"}
BEST = {
    "pool": "solo",
    "prefetch_multiplier": 100,
    "without_gossip": True,
    "without_mingle": True,
    "without_heartbeat": True,
}


def application(dsn: str) -> tuple[Any, Any]:
    """An app with one task, whose results nobody wants."""
    app = Celery("bench", broker=dsn)
    app.conf.update(worker_hijack_root_logger=False, broker_connection_retry_on_startup=True)

    @app.task(name="noop", ignore_result=True)  # type: ignore[untyped-decorator]
    def noop(body: str) -> None:
        os.write(WRITER, TOLD.pack(time.time()))

    return app, noop


def worker(dsn: str, best: bool) -> None:
    """A worker, until it is killed."""
    logging.disable()
    app, _ = application(dsn)
    app.Worker(hostname=f"bench{os.getpid()}@localhost", **QUIETLY, **(BEST if best else {})).start()


def told() -> None:
    """Tasks have run."""
    times = [time for (time,) in TOLD.iter_unpack(os.read(READER, 4096))]
    tally.first = tally.first or times[0]
    tally.last = max(tally.last, *times)
    tally.count += len(times)
    if tally.arrival is not None:
        tally.arrival.set()


class CeleryPeer:
    """Its verbs."""

    async def install(self, dsn: str) -> None:
        pass

    async def send(self, dsn: str, messages: int, batch: int) -> float:
        app, noop = application(dsn)
        with app.producer_pool.acquire() as producer:
            noop.apply_async((BODY,), producer=producer)  # connects
            started = time.perf_counter()
            for _ in range(messages - 1):
                noop.apply_async((BODY,), producer=producer)
            return time.perf_counter() - started

    async def work(self, dsn: str, best: bool, until: Callable[[Any], Awaitable[None]]) -> None:
        process = multiprocessing.get_context("fork").Process(target=worker, args=(dsn, best))
        process.start()
        asyncio.get_running_loop().add_reader(READER, told)
        _, noop = application(dsn)

        async def send_one() -> None:
            noop.apply_async((BODY,))

        await until(send_one)


if __name__ == "__main__":
    main(CeleryPeer())
