"""Procrastinate: jobs deleted when they succeed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import procrastinate

from .contract import BODY, main, tally


def application(dsn: str) -> tuple[Any, Any]:
    """An app with one task."""
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=dsn))

    @app.task(name="noop", queue="bench")  # type: ignore[untyped-decorator]
    async def noop(body: str) -> None:
        tally.add()

    return app, noop


class Procrastinate:
    """Its verbs."""

    async def install(self, dsn: str) -> None:
        app, _ = application(dsn)
        async with app.open_async():
            await app.schema_manager.apply_schema_async()

    async def send(self, dsn: str, messages: int, batch: int) -> float:
        app, noop = application(dsn)
        async with app.open_async():
            started = time.perf_counter()
            for _ in range(messages // batch):
                await noop.batch_defer_async(*[{"body": BODY} for _ in range(batch)])
            return time.perf_counter() - started

    async def work(self, dsn: str, best: bool, until: Callable[[Any], Awaitable[None]]) -> None:
        app, noop = application(dsn)
        settings: dict[str, Any] = {"concurrency": 20, "delete_jobs": "successful"} if best else {}
        async with app.open_async():
            worker = asyncio.create_task(
                app.run_worker_async(queues=["bench"], install_signal_handlers=False, **settings)
            )
            await until(lambda: noop.defer_async(body=BODY))
            worker.cancel()


if __name__ == "__main__":
    main(Procrastinate())
