"""A time to wait may lie beyond all clocks, and is never NaN."""

from __future__ import annotations

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import Db, one

from howdah.engine import Connection, Requestor
from howdah.engine.aio import connect_async
from howdah.engine.aio.requests import AsyncRequestor
from howdah.engine.errors import BadArgument

TIMEOUT = 20


@pytest.mark.parametrize("timeout", [math.inf, 1e30])
def test_a_time_beyond_all_clocks_is_no_limit(connection: Connection, orders: str, timeout: float) -> None:
    with Requestor(connection, orders) as requestor, ThreadPoolExecutor(1) as threads:
        answer = threads.submit(requestor.request, "x", timeout)
        with connection.session() as session, session.transaction():
            (request,) = session.receive(orders, wait=10)
            session.respond(request, "y")
        assert answer.result(TIMEOUT).body == "y"
        with connection.session() as session, connection.windowed_producer(orders) as producer:
            connection.send(orders, "z")
            assert session.receive(orders, wait=timeout)[0].body == "z"
            producer.flush(timeout)


def test_nan_is_no_time_to_wait(dsn: str, connection: Connection, orders: str, db: Db) -> None:
    async def awaited() -> None:
        async with connect_async(dsn) as other, AsyncRequestor(other, orders) as requestor:
            with pytest.raises(BadArgument, match="NaN"):
                await requestor.request("x", math.nan)
            async with other.transaction() as session:
                with pytest.raises(BadArgument, match="NaN"):
                    await session.receive(orders, wait=math.nan)

    with Requestor(connection, orders) as requestor, pytest.raises(BadArgument, match="NaN"):
        requestor.request("x", math.nan)
    with connection.session() as session:
        with pytest.raises(BadArgument, match="NaN"):
            session.receive(orders, wait=math.nan)
        with pytest.raises(BadArgument, match="NaN"):
            session.result(orders, 1, wait=math.nan)
    with connection.windowed_producer(orders) as producer, pytest.raises(BadArgument, match="NaN"):
        producer.flush(math.nan)
    asyncio.run(awaited())
    assert one(db, "select count(*) from howdah.msgs") == 0
