"""Connect for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Unpack

import psycopg
from psycopg_pool import AsyncConnectionPool

from ..calls.levels import LevelMapping
from ..database.reliability import AsyncReliabilityConnection
from ..errors import BadArgument
from ..factory import opened
from ..objects import AdministeredFactory
from ..plan import ConnectSettings, Plan, of_pool
from .connection import AsyncConnection
from .loans import AsyncPgConnection


@asynccontextmanager
async def connect_async(
    dsn: str | None = None,
    *,
    pool: AsyncConnectionPool[AsyncPgConnection] | None = None,
    factory: AdministeredFactory | None = None,
    started: bool = True,
    **settings: Unpack[ConnectSettings],
) -> AsyncIterator[AsyncConnection]:
    """Connect by DSN, by the application's own pool or by a factory. The block's end closes the connection.

    - pool: the block's end leaves it open. Sessions with an acknowledge mode need a DSN or a factory.
    - factory: one that was looked up. It decides where to connect and how: no DSN and no settings go with it.
    - started: False keeps its sessions from receiving until ``start``.
    - settings: as of ``connect``. Sessions with an acknowledge mode have up to ``max_size`` connections besides. The
      sessions of a service always share what waits.

    Raises as ``connect``.
    """
    if unknown := settings.keys() - ConnectSettings.__annotations__.keys():
        raise TypeError(f"connect_async() got an unexpected keyword argument {min(unknown)!r}")
    if pool is not None:
        connection = _over(pool, of_pool(settings, dsn=dsn, factory=factory), started=started)
    else:
        connection = await _opened(_planned(dsn, factory, settings), started=started)
    try:
        yield connection
    finally:
        await connection.close()


def _over(pool: AsyncConnectionPool[AsyncPgConnection], own: ConnectSettings, *, started: bool) -> AsyncConnection:
    return AsyncConnection(
        pool,
        owns_pool=False,
        started=started,
        max_redeliveries=own.get("max_redeliveries"),
        levels=LevelMapping(home=own.get("instance")),
        reconnection=own.get("reconnection"),
    )


def _planned(dsn: str | None, factory: AdministeredFactory | None, settings: ConnectSettings) -> Plan:
    if factory is None:
        return Plan.of(dsn, settings)
    given = [*(["dsn"] if dsn is not None else []), *settings]
    if given:
        raise BadArgument(
            f"{given[0]} does not go with a factory", "Set the factory's attribute, or connect without the factory."
        )
    return Plan.of(factory.conninfo(), factory.settings(), factory.levels)


async def _opened(plan: Plan, *, started: bool) -> AsyncConnection:
    service = await asyncio.to_thread(plan.probe)
    sizes = plan.sizes(service)
    claim = await asyncio.to_thread(plan.claim)
    by_reliability = plan.settings.get("commit_by_reliability")
    pool: AsyncConnectionPool[AsyncPgConnection] = AsyncConnectionPool(
        connection_class=AsyncReliabilityConnection if by_reliability else psycopg.AsyncConnection,
        configure=plan.beginning.configure_async,
        **plan.pool(sizes),
    )
    await pool.open()
    return AsyncConnection(
        pool,
        partial(opened, plan, replace(sizes, min_size=0), service, claim and claim.lent(), started=True),
        started=started,
        max_redeliveries=plan.settings.get("max_redeliveries"),
        levels=plan.levels,
        reconnection=plan.settings.get("reconnection"),
        claim=claim,
        service=service,
    )
