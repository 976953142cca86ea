"""Forwards one link: takes a batch here, stores it at the target, commits there, and only then commits here.

If anything breaks in between, the batch comes again, and the target skips what it has. The database knows all that
matters; a forwarder can be killed at any moment.
"""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from typing import Any
from uuid import UUID

import psycopg

from ...engine import HowdahError
from ...engine.calls import links as calls
from ...engine.calls.links import Taken
from ...engine.database.runner import run
from ...engine.database.waiting import Idle
from ...engine.database.waking import Waking
from ...engine.errors import LinkRefused, NoSuchLink
from .. import events
from ..backoff import Backoff
from . import target

RETRY_SECONDS_MIN = 0.1
REFUSED_SECONDS_MIN = 0.01
"""The first pause after the queue's policy has returned a message that the target refused, to be taken at once."""
STANDBY_SECONDS = 2.0
"""How often a forwarder looks whether the link is free or no longer paused."""


class Forwarder(threading.Thread):
    """A thread with a connection to each of the two engines. One of several for a link is active."""

    def __init__(
        self, dsn: str, link: str, holder: str, stopping: threading.Event, waking: Waking | None = None
    ) -> None:
        """holder: a name that no other forwarder has."""
        super().__init__(name=f"link-{link}", daemon=True)
        self.forwarded = 0
        self._dsn = dsn
        self._link = link
        self._holder = holder
        self._stopping = stopping
        self._woken = threading.Event()
        self._idle = Idle(waking, self.wake)
        self._source: psycopg.Connection[Any] | None = None
        self._target: psycopg.Connection[Any] | None = None
        self._engine_id: UUID | None = None
        self._queue: str | None = None
        self._retry = Backoff(RETRY_SECONDS_MIN, 30.0)
        self._refused = Backoff(REFUSED_SECONDS_MIN, 30.0)
        self._retry_most = 30.0
        self._most: int | None = None
        self._away = False

    def wake(self) -> None:
        """End the pause of an idle forwarder."""
        self._woken.set()

    def run(self) -> None:
        """Forward until ``stopping`` is set or the link is dropped."""
        while not self._stopping.is_set():
            try:
                pause = self.run_once()
            except NoSuchLink:
                break
            except (HowdahError, psycopg.Error) as error:
                pause = self._fail(error)
            if pause and self._woken.wait(pause):
                self._woken.clear()
        self._end()

    def run_once(self) -> float:
        """Forward one batch. Returns the seconds to pause before the next one."""
        source = self._connected()
        if self._target is None:
            taken = run(source, calls.take(self._link, self._holder))
            if taken.state != "ready":
                return STANDBY_SECONDS
            self._reach(taken)
        if self._queue is not None and (ask := self._idle.ask(self._queue)) is not None:
            self._idle.asked(self._queue, run(source, ask))
        try:
            with source.transaction():
                taken = run(source, calls.take(self._link, self._holder, self._engine_id, self._most))
                if taken.state == "batch":
                    self._store(taken)
        except LinkRefused as error:
            return self._record(taken, error)
        self._queue = taken.source
        if taken.state == "empty":
            self._reached()
            return self._idle.pause() or 0.0
        if taken.state != "batch":
            self._leave_target()
            return STANDBY_SECONDS
        self._succeeded(taken)
        return 0.0

    def _store(self, taken: Taken) -> None:
        """Store a batch at the target and commit there."""
        assert self._target is not None
        with self._target.transaction():
            run(self._target, calls.arrive(self._link, taken))

    def _succeeded(self, taken: Taken) -> None:
        self.forwarded += taken.taken or 0
        self._idle.found()
        self._refused.reset()
        if self._most is not None:
            self._most = self._most * 2 if self._most < 10000 else None
        self._reached()

    def _reached(self) -> None:
        """Note that the target can be reached."""
        self._retry.reset()
        if self._away:
            self._away = False
            events.link_back(self._link)

    def _record(self, taken: Taken, error: LinkRefused) -> float:
        """Record a failure of each message that the target refused. The queue's policy decides what becomes of it.

        Returns the seconds to pause: a policy without a delay may have a message come again and again.
        """
        cause = error.__cause__
        detail = cause.diag.message_detail if isinstance(cause, psycopg.Error) else None
        refused = {item.pop("message_id"): item for item in json.loads(detail or "[]")}
        failures = [
            refused[message["message_id"]]
            | {key: message[key] for key in ("message_id", "priority", "position", "stage")}
            | {"error_class": "LinkRefused", "worker": self._holder}
            for message in json.loads(taken.messages or "[]")
            if message["message_id"] in refused
        ]
        outcomes = run(self._connected(), calls.record_refused(taken.source or "", failures))
        events.link_refused(self._link, len(failures), outcomes, error)
        if "returned" not in outcomes:
            return 0.0
        self._idle.reset()
        return min(self._refused.pause(), self._retry_most)

    def _fail(self, error: Exception) -> float:
        """Leave the link alone for a while after an error that blames none of its messages."""
        self._idle.reset()
        self._leave_target()
        self._most = 1 if self._most is None else max(1, self._most // 2)
        pause = min(self._retry.pause(), self._retry_most)
        new = not self._away
        try:
            run(self._connected(), calls.away(self._link, self._holder, str(error)))
        except (HowdahError, psycopg.Error):
            self._leave_source()
        if new:
            self._away = True
            events.link_away(self._link, error, pause)
        return pause

    def _reach(self, taken: Taken) -> None:
        """Connect to the target and learn who it is."""
        if taken.retry_ms_max is not None:
            self._retry_most = taken.retry_ms_max / 1000
        self._target = target.connect(self._link, taken)
        self._engine_id = run(self._target, calls.engine())

    def _connected(self) -> psycopg.Connection[Any]:
        if self._source is None or self._source.closed:
            name = f"howdah link {self._link}"[:63]
            self._source = target.in_order(psycopg.connect(self._dsn, autocommit=True, application_name=name))
        return self._source

    def _leave_target(self) -> None:
        if self._target is not None:
            self._target.close()
            self._target = None

    def _leave_source(self) -> None:
        if self._source is not None:
            self._source.close()
            self._source = None

    def _end(self) -> None:
        """Let another forwarder have the link at once."""
        self._idle.reset()
        with suppress(HowdahError, psycopg.Error):
            run(self._connected(), calls.away(self._link, self._holder))
        self._leave_target()
        self._leave_source()
