"""Live figures: one poller a process looks, and each stream gets what its viewer may browse."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import psycopg
from starlette.concurrency import run_in_threadpool

from ..engine.calls import Rows
from ..engine.errors import HowdahError
from .database import Database, Kept
from .pages.figures import FIGURES, TOTALS
from .people import Person, RefusedError
from .showing import span

LOG = logging.getLogger(__name__)
#: Seconds after which a stream says that nothing is new.
SILENCE = 15.0
#: How many of the busiest queues the poller reads, and how many an event tells of at most.
MOST_QUEUES = 100
#: How many queues the poller reads because pages show them.
MOST_NAMED = 1000

Names = tuple[str, ...]


@dataclass(frozen=True)
class Look:
    """What howdah.queue_figures said: all queues together, and some by name."""

    total: dict[str, Any]
    queues: dict[str, dict[str, Any]]
    #: Events made of it, by their queues: viewers of the same page get the same one.
    events: dict[Names, str] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Rows) -> Look:
        """The look whose rows these are."""
        return cls(rows[0], {row["queue_name"]: row for row in rows[1:]})


class Named:
    """The queues that the poller reads for one viewer."""

    def __init__(self, counted: Counter[str]) -> None:
        self._counted = counted
        self._names: Names = ()

    def change(self, names: Names) -> None:
        """Read these queues from now on."""
        if names != self._names:
            self._counted.update(names)
            self._counted -= Counter(self._names)
            self._names = names


class Poller:
    """Looks while somebody watches, and keeps the last figures."""

    def __init__(self, database: Database, person: Person, seconds: float = 2.0) -> None:
        """person: who looks, with a role that may see the figures of all queues."""
        self._database = database
        self._person = person
        self.seconds = seconds
        self.looks = 0
        self._watching = 0
        self._named: Counter[str] = Counter()
        self._task: asyncio.Task[None] | None = None
        self._look: Look | None = None
        self._looked = asyncio.Event()

    @asynccontextmanager
    async def watched(self, names: Names = ()) -> AsyncIterator[Named]:
        """While this lasts, the poller runs, and reads these queues too, or others that the viewer asks for."""
        self._watching += 1
        named = Named(self._named)
        named.change(names)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._poll())
        try:
            yield named
        finally:
            self._watching -= 1
            named.change(())
            if not self._watching and self._task is not None:
                self._task.cancel()
                self._task = None

    async def next(self) -> Look:
        """The figures of the next look."""
        looked = self._looked
        await looked.wait()
        assert self._look is not None
        return self._look

    async def _poll(self) -> None:
        with closing(Kept(self._database, self._person)) as kept:
            while True:
                names = list(self._named)[:MOST_NAMED]
                try:
                    self._look = await run_in_threadpool(_look, kept, names)
                except (HowdahError, psycopg.Error, RefusedError) as error:
                    LOG.warning("the console cannot read live figures: %s", error)
                else:
                    self.looks += 1
                    told, self._looked = self._looked, asyncio.Event()
                    told.set()
                await asyncio.sleep(self.seconds)


def _look(kept: Kept, names: Sequence[str]) -> Look:
    with kept.work() as work:
        return Look.of(work.admin.queue_figures(names, MOST_QUEUES))


class Views:
    """What persons may browse, read anew after some seconds: once for all streams of a person on the same page."""

    def __init__(self, database: Database, recheck: float = 15.0) -> None:
        """recheck: seconds for which rights count."""
        self._database = database
        self._recheck = recheck
        self._known: dict[tuple[Person, Names], asyncio.Future[tuple[float, Look | None]]] = {}
        self.checks = 0

    async def seen(self, person: Person, names: Names) -> Look | None:
        """What the person sees of these queues and of all together. None: nothing any more."""
        now = asyncio.get_running_loop().time
        for key, known in list(self._known.items()):
            if known.done() and (known.cancelled() or known.exception() or now() - known.result()[0] >= self._recheck):
                del self._known[key]
        if (person, names) not in self._known:
            self._known[person, names] = asyncio.ensure_future(self._checked(person, names, now()))
        # Shielded: a viewer who leaves must not take the answer from the others.
        return (await asyncio.shield(self._known[person, names]))[1]

    async def _checked(self, person: Person, names: Names, began: float) -> tuple[float, Look | None]:
        self.checks += 1
        return began, await run_in_threadpool(self._read, person, names)

    def _read(self, person: Person, names: Names) -> Look | None:
        try:
            with self._database.work(person) as work:
                return Look.of(work.admin.queue_figures(names, 0 if names else MOST_QUEUES))
        except (HowdahError, psycopg.Error, RefusedError):
            return None


class Stream:
    """The events of one viewer."""

    def __init__(
        self,
        poller: Poller,
        views: Views,
        person: Callable[[], Person],
        names: Names = (),
        busiest: int = MOST_QUEUES,
    ) -> None:
        """person: says who looks, at each event, in a thread. names: the queues of the page. Empty: the busiest
        ones."""
        self._poller = poller
        self._views = views
        self._person = person
        self._names = names[:MOST_QUEUES]
        self._busiest = min(max(busiest, 1), MOST_QUEUES)

    async def events(self, gone: Callable[[], Awaitable[bool]]) -> AsyncGenerator[str, None]:
        """Server-sent events until the viewer has gone or may see nothing more."""
        async with self._poller.watched(self._names) as named:
            while not await gone():
                try:
                    async with asyncio.timeout(SILENCE):
                        look = await self._poller.next()
                except TimeoutError:
                    look = None
                view = await self._view()
                if view is None:
                    yield "event: ended\ndata: {}\n\n"
                    return
                if not self._names and not view.total["sees_all"]:
                    # The viewer may see none of the globally busiest queues.
                    named.change(tuple(view.queues)[: self._busiest])
                if look is None:
                    yield ": nothing new\n\n"
                else:
                    yield f"event: figures\ndata: {told(look, view, self._names, self._busiest)}\n\n"

    async def _view(self) -> Look | None:
        try:
            # The function of an application that says who looks may ask its database.
            return await self._views.seen(await run_in_threadpool(self._person), self._names)
        except RefusedError:
            return None


def told(look: Look, view: Look, names: Names, busiest: int = MOST_QUEUES) -> str:
    """What an event says of a look to a viewer: those of these queues, or of so many busiest, that the viewer sees.

    The totals of a viewer who sees only some queues are the viewer's own, of the last check of rights.
    """
    whole = view.total["sees_all"] and look.total["sees_all"]
    asked = names or tuple(look.queues if whole else view.queues)[:busiest]
    shown = tuple(name for name in asked if name in look.queues and (whole or name in view.queues))
    if not whole:
        return _event(look, view.total, shown)
    if shown not in look.events:
        look.events[shown] = _event(look, look.total, shown)
    return look.events[shown]


def _event(look: Look, total: dict[str, Any], names: Names) -> str:
    counted: datetime | None = total["counted_at"]
    figures = [name for name, _ in FIGURES]
    return json.dumps(
        {
            "totals": {name: _figure(total[name]) for name in (*TOTALS, "oldest_age", "queue_count")},
            "queues": [
                {"queue_name": name} | {figure: _figure(look.queues[name][figure]) for figure in figures}
                for name in names[:MOST_QUEUES]
            ],
            "counted_at": counted.isoformat() if counted else None,
            "age": max((look.total["asked_at"] - counted).total_seconds(), 0) if counted else None,
        }
    )


def _figure(value: Any) -> Any:
    return span(value) if isinstance(value, timedelta) else value
