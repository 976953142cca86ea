"""Send more than fits in one list: an iterable of bodies, batch by batch, all or nothing.

The next batch is written while the server stores the ones before. Statements do not wait for their answers, up to
AHEAD of them, so that memory stays bounded however long the stream is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from itertools import islice
from typing import Any

import psycopg

from .. import calls
from ..calls.bodies import Body
from ..calls.options import SharedOptions
from ..calls.stamps import Every
from ..errors import BadArgument, translated

BATCH_DEFAULT = 1000
BATCH_MAX = 100_000
AHEAD = 8

SHARED = SharedOptions.__optional_keys__


async def send_stream(
    connection: psycopg.AsyncConnection[Any],
    queue: str,
    bodies: Iterable[Body],
    batch: int,
    options: SharedOptions,
    every: Every | None = None,
) -> int:
    """Send every body in the connection's transaction. Returns how many. After an error, none of them is sent.

    every: what each message gets besides.
    """
    if unknown := sorted(options.keys() - SHARED):
        raise BadArgument(f"{unknown[0]} is not an option of a stream", f"Known are: {', '.join(sorted(SHARED))}.")
    if not 1 <= batch <= BATCH_MAX:
        raise BadArgument(f"batch must be 1 to {BATCH_MAX}, not {batch}")
    with translated():
        return await _send(connection, queue, _parts(bodies, batch), options, every)


async def _send(
    connection: psycopg.AsyncConnection[Any],
    queue: str,
    parts: Iterator[list[Body]],
    options: SharedOptions,
    every: Every | None,
) -> int:
    sent = 0
    async with whole(connection), connection.pipeline() as pipeline:
        for number, part in enumerate(parts, 1):
            call = calls.send_count(queue, part, **options, **(every.options if every is not None else {}))
            cursor = psycopg.AsyncCursor(connection)
            if call.setup is not None:
                call.setup(cursor)
            await cursor.execute(call.sql, call.arguments)
            sent += len(part)
            if number % AHEAD == 0:
                await pipeline.sync()
    return sent


def _parts(bodies: Iterable[Body], batch: int) -> Iterator[list[Body]]:
    source = iter(bodies)
    while part := list(islice(source, batch)):
        yield part


def whole(connection: psycopg.AsyncConnection[Any]) -> AbstractAsyncContextManager[Any]:
    """Make the block all or nothing: a transaction in autocommit, else a part of the open one."""
    return connection.transaction() if connection.autocommit else _part(connection)


@asynccontextmanager
async def _part(connection: psycopg.AsyncConnection[Any]) -> AsyncIterator[None]:
    await connection.execute(
        "savepoint howdah_stream", prepare=False
    )  # begins the transaction too, unlike transaction()
    try:
        yield
    except BaseException:
        with suppress(psycopg.Error):
            await connection.execute("rollback to savepoint howdah_stream", prepare=False)
        raise
    await connection.execute("release savepoint howdah_stream", prepare=False)
