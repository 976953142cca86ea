"""A worker process's entry in the registry, from its first heartbeat to its orderly end."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Sequence
from functools import partial

import psycopg

from ..engine import Admin, HowdahError, calls
from ..engine.errors import NoSuchQueue, UnknownWorker
from . import events
from .backoff import Backoff
from .figures import Figures
from .home import Home
from .in_hand import Hands
from .own_connection import OwnConnection

HEARTBEAT_SECONDS = 2.0


class Registration:
    """Reports at intervals, on its own connection, that the process is alive and what it has in hand."""

    def __init__(
        self,
        dsn: str,
        worker: str,
        sessions: int,
        queues: list[str],
        hands: Hands,
        fleeting: Sequence[str] = (),
        figures: Figures | None = None,
        home: Home | None = None,
    ) -> None:
        """fleeting: subscriptions that end with the last worker that has them. figures: recorded along the way.

        home: the instance with which the entry ends.
        """
        self._home = home
        self._worker = worker
        self._sessions = sessions
        self._queues = queues
        self._hands = hands
        self._fleeting = fleeting
        self._figures = figures or Figures()
        self._own = OwnConnection(dsn, "howdah heartbeat")
        self._admin = Admin(self._own.run)
        self._worker_id: str | None = None
        self._retry = Backoff(0.1, 5.0)
        self._next = 0.0

    def beat(self) -> None:
        """Register, or report that the process is alive, if it is time. A failure waits for a later call."""
        if time.monotonic() < self._next:
            return
        try:
            if self._worker_id is None:
                self._worker_id = self._admin.register_worker(
                    self._worker,
                    socket.gethostname(),
                    os.getpid(),
                    self._sessions,
                    self._queues,
                    instance=None if self._home is None else str(self._home.instance_id),
                )
            self._admin.heartbeat(self._worker_id, self._in_hand())
            self._keep()
            self._record(self._worker_id)
        except UnknownWorker:  # silent for so long that it was taken for dead
            self._worker_id = None
        except (HowdahError, psycopg.Error) as error:
            pause = self._retry.pause()
            self._next = time.monotonic() + pause
            events.connection_lost(self._worker, error, pause)
        else:
            self._next = time.monotonic() + HEARTBEAT_SECONDS
            self._retry.reset()

    def end(self) -> None:
        """Leave the registry, and end the subscriptions that no other worker keeps."""
        if self._own.connection is None:
            return
        with contextlib.suppress(HowdahError, psycopg.Error):
            if self._worker_id is not None:
                with contextlib.suppress(HowdahError, psycopg.Error):
                    self._record(self._worker_id, at_once=True)
                self._admin.unregister_worker(self._worker_id)
            if self._fleeting:
                kept = {queue for row in self._admin.list_workers() for queue in row["queues"]}
                for name in set(self._fleeting) - kept:
                    self._admin.unsubscribe(name)
        self._own.close()

    def _record(self, worker_id: str, *, at_once: bool = False) -> None:
        """Record what the sessions have done since the last record."""
        self._figures.record(partial(self._admin.record_worker_figures, worker_id), at_once=at_once)

    def _keep(self) -> None:
        """Report that the subscriptions are in use, however long the sessions are busy elsewhere."""
        for name in self._fleeting:
            with contextlib.suppress(NoSuchQueue):  # not subscribed yet
                self._own.run(calls.wait(name))

    def _in_hand(self) -> dict[str, int]:
        counts = dict.fromkeys(self._queues, 0)
        for queue_index, messages in self._hands.held():
            counts[self._queues[queue_index]] += messages
        return counts
