"""Connect for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import psycopg
from psycopg_pool import AsyncConnectionPool

from ..calls.services import Service
from ..connection import Connection
from ..database.client_id import ClaimedClientId
from ..database.pooling import Beginning, Sizes
from ..database.reconnection import Reconnection
from ..database.reliability import AsyncReliabilityConnection
from ..errors import translated
from ..factory import (
    ConnectSettings,
    alone,
    check_duration,
    complete,
    configured,
    connect,
    pool_settings,
    reach,
    split_url,
)
from ..jms.prefetch import Prefetch
from ..objects import AdministeredFactory
from .connection import AsyncConnection
from .loans import AsyncPgConnection


@asynccontextmanager
async def connect_async(
    dsn: str | None = None,
    *,
    min_size: int | None = None,
    max_size: int | None = None,
    timeout: float = 30,
    prepare: bool = True,
    prefetch: Prefetch | None = None,
    lease_duration: float = 60,
    commit_by_reliability: bool = False,
    service: str | None = None,
    factory: AdministeredFactory | None = None,
) -> AsyncIterator[AsyncConnection]:
    """Connect by DSN, as ``connect``. The block's end closes the pool. Raises as ``connect``.

    prefetch, lease_duration: for sessions with an acknowledge mode, which have up to ``max_size`` connections besides.
    commit_by_reliability, service: as of ``connect``. The sessions of a service always share what waits.
    factory: one that was looked up decides over all of these instead.
    """
    settings: ConnectSettings = {
        "min_size": min_size,
        "max_size": max_size,
        "timeout": timeout,
        "prepare": prepare,
        "prefetch": prefetch,
        "lease_duration": lease_duration,
        "commit_by_reliability": commit_by_reliability,
        "service": service,
    }
    if factory is not None:
        dsn, settings = factory.conninfo(), factory.settings()
    dsn, settings = split_url(configured(dsn), settings)
    wanted = (settings.get("min_size"), settings.get("max_size"))
    claimed, reconnection = settings.get("client_id"), settings.get("reconnection")
    check_duration(settings.get("lease_duration", 60))
    if settings.get("service") is None:
        Sizes.of(*wanted)
    conninfo = complete(dsn, settings.get("timeout", 30))
    beginning = Beginning(settings.get("role"), claimed, settings.get("service"))
    chosen = await _probed(conninfo, beginning, reconnection)
    sizes = Sizes.of(*wanted, chosen)
    claim = None
    if claimed is not None:
        claim = await asyncio.to_thread(lambda: ClaimedClientId(claimed, partial(alone, conninfo, beginning)))
    pool: AsyncConnectionPool[AsyncPgConnection] = AsyncConnectionPool(
        conninfo,
        kwargs=pool_settings(settings.get("prepare", True)),
        min_size=sizes.min_size,
        max_size=sizes.max_size,
        max_idle=sizes.max_idle,
        timeout=settings.get("timeout", 30),
        open=False,
        connection_class=(
            AsyncReliabilityConnection if settings.get("commit_by_reliability") else psycopg.AsyncConnection
        ),
        configure=beginning.configure_async,
        name="howdah",
    )

    def threaded() -> Connection:
        made = connect(conninfo, **{**settings, "min_size": 0, "max_size": sizes.max_size, "client_id": None})  # type: ignore[arg-type]
        if factory is not None:
            made.levels = factory.levels
        return made

    async with pool:
        connection = AsyncConnection(pool, threaded, reconnection=reconnection, claim=claim, service=chosen)
        connection.max_redeliveries = settings.get("max_redeliveries")
        if factory is not None:
            connection.levels = factory.levels
        try:
            yield connection
        finally:
            await connection.close()


async def _probed(conninfo: str, beginning: Beginning, reconnection: Reconnection | None) -> Service | None:
    """The service of a first connection, by which errors show at once."""

    def probe() -> Service | None:
        with reach(conninfo, reconnection) as connection, translated():
            return beginning.begin(connection)

    return await asyncio.to_thread(probe)
