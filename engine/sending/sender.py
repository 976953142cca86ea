"""Sending without waiting: a thread that sends what others hand it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future

import psycopg

from ..calls import Call
from ..database.loans import Loans, PgConnection
from ..database.runner import run
from ..database.threads import Background
from ..errors import HowdahError, IllegalState

#: How many calls may wait to be made. The next one blocks, so that a stalled database cannot fill the memory.
UNSENT_MAX = 10_000


class Sender:
    """Makes calls one after another, each in its own transaction, on a connection borrowed while it has work."""

    def __init__(self, loans: Loans) -> None:
        self._loans = loans
        self._work: queue.SimpleQueue[tuple[Call[int], Future[int]] | None] = queue.SimpleQueue()
        self._room = threading.Semaphore(UNSENT_MAX)
        self._lock = threading.Lock()
        self._background = Background("howdah-sender", self._run)
        self._closed = False

    def submit(self, make: Callable[[], Call[int]]) -> Future[int]:
        """Have a call made; its result, or its error, comes in the future. Raises IllegalState once closed."""
        future: Future[int] = Future()
        try:
            call = make()
        except HowdahError as error:
            future.set_exception(error)
            return future
        self._room.acquire()
        with self._lock:
            if self._closed:
                self._room.release()
                raise IllegalState("the connection is closed")
            self._background.start()
            self._work.put((call, future))
        return future

    def close(self) -> None:
        """Make the calls that are left and end the thread."""
        with self._lock:
            if not self._closed:
                self._work.put(None)
            self._closed = True
        self._background.join()

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            connection: PgConnection | None = None
            try:
                while work is not None:
                    connection = self._make(work, connection)
                    work = self._work.get_nowait()
            except queue.Empty:
                continue
            finally:
                if connection is not None:
                    self._loans.give_back(connection)
            return

    def _make(self, work: tuple[Call[int], Future[int]], connection: PgConnection | None) -> PgConnection | None:
        """Make one call; returns the connection to go on with."""
        call, future = work
        self._room.release()
        if not future.set_running_or_notify_cancel():
            return connection
        try:
            if connection is None:
                connection = self._loans.borrow(autocommit=True)
            future.set_result(run(connection, call))
        except Exception as error:  # noqa: BLE001 - it is raised again by whoever asks the future
            future.set_exception(error)
            if connection is not None and (connection.closed or isinstance(error, psycopg.Error)):
                self._loans.give_back(connection)
                return None
        return connection
