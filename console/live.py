"""Live figures: one poller a process looks, and each stream gets what its viewer may browse."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import psycopg
from starlette.concurrency import run_in_threadpool

from ..engine.errors import HowdahError
from .database import Database
from .history import Samples
from .pages.queues import FIGURES, busiest, totals
from .people import Person, RefusedError
from .showing import span

LOG = logging.getLogger(__name__)
#: Seconds after which a stream says that nothing is new.
SILENCE = 15.0
#: Queues that one event tells of: the busiest that the viewer may browse.
MOST_QUEUES = 200


class Poller:
    """Looks while somebody watches, and keeps the last figures."""

    def __init__(self, database: Database, person: Person, samples: Samples, seconds: float = 2.0) -> None:
        """person: who looks, with a role that may see the figures of all queues."""
        self._database = database
        self._person = person
        self._samples = samples
        self.seconds = seconds
        self.looks = 0
        self._watching = 0
        self._task: asyncio.Task[None] | None = None
        self._rows: list[dict[str, Any]] = []
        self._looked = asyncio.Event()

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """While this lasts, the poller runs."""
        self._watching += 1
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._poll())
        try:
            yield
        finally:
            self._watching -= 1
            if not self._watching and self._task is not None:
                self._task.cancel()
                self._task = None

    async def next(self) -> list[dict[str, Any]]:
        """The figures of the next look."""
        await self._looked.wait()
        return self._rows

    async def _poll(self) -> None:
        while True:
            try:
                self._rows = await run_in_threadpool(self._look)
            except (HowdahError, psycopg.Error, RefusedError) as error:
                LOG.warning("the console cannot read live figures: %s", error)
            else:
                self.looks += 1
                self._samples.add(self._rows)
                told, self._looked = self._looked, asyncio.Event()
                told.set()
            await asyncio.sleep(self.seconds)

    def _look(self) -> list[dict[str, Any]]:
        with self._database.work(self._person) as work:
            return work.admin.queue_stats()


class Stream:
    """The events of one viewer."""

    def __init__(self, poller: Poller, database: Database, person: Callable[[], Person], recheck: float = 15.0) -> None:
        """person: says who looks, again and again. recheck: seconds after which rights are read anew."""
        self._poller = poller
        self._database = database
        self._person = person
        self._recheck = recheck

    async def events(self, gone: Callable[[], Awaitable[bool]]) -> AsyncGenerator[str, None]:
        """Server-sent events until the viewer has gone or may see nothing more."""
        clock = asyncio.get_running_loop().time
        visible, checked = await run_in_threadpool(self._visible), clock()
        async with self._poller.watched():
            while not await gone():
                if visible is None:
                    yield "event: ended\ndata: {}\n\n"
                    return
                try:
                    rows = await asyncio.wait_for(self._poller.next(), SILENCE)
                except TimeoutError:
                    yield ": nothing new\n\n"
                else:
                    yield f"event: figures\ndata: {told([row for row in rows if row['queue_name'] in visible])}\n\n"
                if clock() - checked >= self._recheck:
                    visible, checked = await run_in_threadpool(self._visible), clock()

    def _visible(self) -> frozenset[str] | None:
        """Names of the queues that the viewer may browse now. None: nothing any more."""
        try:
            with self._database.work(self._person()) as work:
                return frozenset(row["queue_name"] for row in work.admin.queue_stats())
        except (HowdahError, psycopg.Error, RefusedError):
            return None


def told(rows: list[dict[str, Any]]) -> str:
    """What an event says of these queues."""
    names = ("queue_name", *(name for name, _ in FIGURES))
    queues = [{name: _figure(row[name]) for name in names} for row in busiest(rows)[:MOST_QUEUES]]
    return json.dumps({"totals": totals(rows), "queues": queues})


def _figure(value: Any) -> Any:
    return span(value) if isinstance(value, timedelta) else value
