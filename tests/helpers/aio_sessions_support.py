"""What tests of asyncio's sessions import: a connection for one scenario, sending, and what is ready."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from support import Db, one

from howdah.engine import Delivery
from howdah.engine.aio import AsyncConnection, connect_async

READY = "select body from howdah.browse('orders', 100)"


def run(dsn: str, scenario: Callable[[AsyncConnection], Awaitable[None]], **options: Any) -> None:
    async def whole() -> None:
        async with connect_async(dsn, **options) as connection:
            await scenario(connection)

    asyncio.run(asyncio.wait_for(whole(), 30))


def body(message: Delivery | None) -> str | bytes | None:
    return None if message is None else message.body


def send(db: Db, *bodies: str) -> None:
    one(db, "select howdah.send_batch('orders', %s::text[])", (list(bodies),))
