"""The one connection of a process that listens, and the thread that wakes waiting receivers.

It affects only speed. LISTEN may be impossible (behind a pooler), or the connection lost. Then receivers look at their
queues from time to time, and no longer ask to be woken.
"""

from __future__ import annotations

import logging
import os
import selectors
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, ClassVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from ...text.dsn import canonical
from .reconnection import is_readable

log = logging.getLogger("howdah.waking")

CHANNEL = "howdah"
TOPIC = "topic:"
"""How the payload of a topic's notification begins."""
RESULT = "result:"
"""How the payload of a kept result's notification begins. Everybody who waits for a result may have it."""
ALL = (TOPIC, RESULT)
"""Notifications that wake all who wait for them."""
RETRY_MIN = 0.1
RETRY_MAX = 30.0
#: Firewalls forget idle connections. These keep it known there, or show within a minute that it is lost.
KEEPALIVES = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
NETWORK = {**KEEPALIVES, "tcp_user_timeout": 60_000}
"""Parameters with which a server that falls silent counts as gone in a minute."""

Wake = Callable[[], object]


def conninfo_of(pool: ConnectionPool[Any] | AsyncConnectionPool[Any]) -> str | None:
    """Where a pool connects to; None if it decides so at each connection."""
    if isinstance(pool.conninfo, str) and (pool.kwargs is None or isinstance(pool.kwargs, dict)):
        return _conninfo(pool.conninfo, pool.kwargs)
    return None


def _conninfo(dsn: str, parameters: Mapping[str, Any] | None) -> str:
    keywords = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
    given = {name: value for name, value in (parameters or {}).items() if name in keywords and value is not None}
    return canonical(dsn, **given)


class Waking:
    """Shared by everything in the process that has the same DSN. It connects when somebody waits for the first time.

    A queue's notification wakes the receiver that has waited longest, because it usually stands for one message. A
    receiver that stops waiting wakes the next: a transaction may have sent many messages with one notification. A
    topic's notification wakes all who wait for it,
    since each subscription gets the message.
    """

    _shared: ClassVar[dict[str, Waking]] = {}
    _sharing = threading.Lock()

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._users = 0
        self._thread: threading.Thread | None = None
        self._stopper: socket.socket | None = None
        self._process = 0
        self._listening = False
        self._lock = threading.Lock()
        self._waiting: dict[str, dict[Wake, None]] = {}

    @classmethod
    def of(cls, dsn: str, parameters: Mapping[str, Any] | None = None) -> Waking:
        """Return the process's object for a DSN and arguments of ``psycopg.connect``. Release it at the end."""
        conninfo = _conninfo(dsn, parameters)
        with cls._sharing:
            if conninfo not in cls._shared:
                cls._shared[conninfo] = cls(conninfo)
            waking = cls._shared[conninfo]
            waking._users += 1
            return waking

    @classmethod
    def of_pool(cls, pool: ConnectionPool[Any] | AsyncConnectionPool[Any]) -> Waking | None:
        """Return the process's object for a pool's database. None if the pool decides where to connect each time."""
        conninfo = conninfo_of(pool)
        return None if conninfo is None else cls.of(conninfo)

    def release(self) -> None:
        """Let go of it. The last user closes the connection."""
        with self._sharing, self._lock:
            self._users -= 1
            if self._users == 0:
                if self._shared.get(self._conninfo) is self:
                    del self._shared[self._conninfo]
                thread, self._thread = self._thread, None
                if self._stopper is not None:
                    # A process forked meanwhile has a copy, and a mere close would leave that open.
                    if self._process == os.getpid():
                        with suppress(OSError):  # the thread has ended by itself
                            self._stopper.shutdown(socket.SHUT_RDWR)
                    self._stopper.close()
            else:
                thread = None
        if thread is not None:
            thread.join(RETRY_MIN)

    def ready(self) -> bool:
        """Whether it listens. If not, it is trying to."""
        with self._lock:
            if self._users > 0 and (self._thread is None or not self._thread.is_alive()):
                self._listening = False
                self._stopper, stopped = socket.socketpair()
                self._process = os.getpid()
                self._thread = threading.Thread(target=self._run, args=(stopped,), name="howdah-waking", daemon=True)
                self._thread.start()
            return self._listening

    def join(self, payload: str, wake: Wake) -> None:
        """Let a notification call ``wake``, once. The caller looks at its queue after this, and then sleeps."""
        with self._lock:
            self._waiting.setdefault(payload, {})[wake] = None

    def leave(self, payload: str, wake: Wake) -> None:
        """Stop waiting, and wake the next receiver: the notification may have been for it, or there may be more."""
        with self._lock:
            self._waiting.get(payload, {}).pop(wake, None)
        if not payload.startswith(ALL):
            self._notified(payload)

    def _notified(self, payload: str) -> None:
        with self._lock:
            waiting = self._waiting.get(payload, {})
            woken = list(waiting) if payload.startswith(ALL) else list(islice(waiting, 1))
            for wake in woken:
                del waiting[wake]
        self._call(woken)

    def _lost(self) -> None:
        """Stop listening, and let everybody look: nothing else would announce what comes now."""
        with self._lock:
            self._listening = False
            woken = [wake for waiting in self._waiting.values() for wake in waiting]
            self._waiting.clear()
        self._call(woken)

    @staticmethod
    def _call(woken: list[Wake]) -> None:
        for wake in woken:
            with suppress(RuntimeError):  # an event loop that was closed
                wake()

    def _run(self, stopped: socket.socket) -> None:
        """Listen, and reconnect, until the other end of ``stopped`` is closed."""
        pause = RETRY_MIN
        with stopped:
            while True:
                try:
                    with self._connect() as connection:
                        if connection.execute("select pg_backend_pid()").fetchall() == [(connection.info.backend_pid,)]:
                            connection.execute(f"listen {CHANNEL}")
                            pause = RETRY_MIN
                            self._listening = True
                            self._pass_on(connection, stopped)
                        else:  # a pooler: the next user of this backend would get the notifications
                            log.info("no LISTEN through a pooler: looking at queues from time to time instead")
                            pause = RETRY_MAX
                except psycopg.Error as error:
                    log.info("listening connection: %s", str(error).strip())
                finally:
                    self._lost()
                if is_readable(stopped, pause):
                    return
                pause = min(pause * 2, RETRY_MAX)

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        given = conninfo_to_dict(self._conninfo)
        defaults: dict[str, Any] = {**KEEPALIVES, "connect_timeout": 10, "application_name": "howdah waking"}
        missing = {name: value for name, value in defaults.items() if name not in given}
        return psycopg.connect(make_conninfo(self._conninfo, **missing), autocommit=True, prepare_threshold=None)

    def _pass_on(self, connection: psycopg.Connection[Any], stopped: socket.socket) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(connection, selectors.EVENT_READ)
            selector.register(stopped, selectors.EVENT_READ)
            while all(key.fileobj is connection for key, _ in selector.select()):
                connection.pgconn.consume_input()
                while (notification := connection.pgconn.notifies()) is not None:
                    self._notified(notification.extra.decode())
