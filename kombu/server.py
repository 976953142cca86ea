"""The database session of one connection of kombu, and the caller's own connection in its place."""

from __future__ import annotations

import os
import re
import secrets
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict

from ..engine.calls import Call
from ..engine.calls.temporary import close, create, set_connection
from ..engine.database.runner import raw, run
from ..engine.database.waking import KEEPALIVES
from ..engine.errors import ConnectionLost, IllegalState, translated
from ..engine.errors.translation import cannot_connect
from ..text.dsn import canonical

T = TypeVar("T")

_SCHEME = re.compile(r"\A\w+://")
_sharing: dict[tuple[str, int], Sharing] = {}
"""What sessions share, by database and process: a forked process has its own."""
_callers: ContextVar[Any] = ContextVar("howdah_kombu_using", default=None)


@contextmanager
def using(connection: Any) -> Iterator[None]:
    """Publish tasks in the transaction of a connection of psycopg, SQLAlchemy or Django, until the block ends.

    The tasks exist once the caller commits, and never if the caller rolls back. It holds for the thread, or the task of
    asyncio, that enters it. Commands to workers are sent at once even so.
    """
    token = _callers.set(connection)
    try:
        yield
    finally:
        _callers.reset(token)


def callers() -> psycopg.Connection[Any] | None:
    """The connection that ``using`` named. Raises IllegalState if psycopg 3 is not beneath it."""
    connection: Any = _callers.get()
    if connection is None:
        return None
    if hasattr(connection, "ensure_connection"):  # Django's
        connection.ensure_connection()
        # In a task of Django's Tasks it stands before the worker's own.
        connection = getattr(connection.connection, "borrowed", connection.connection)
    if not isinstance(connection, psycopg.Connection) and not hasattr(connection, "in_transaction"):
        kind = f"{type(connection).__module__}.{type(connection).__name__}"
        raise IllegalState(f"using() takes a connection of psycopg 3, SQLAlchemy or Django, not {kind}")
    own: psycopg.Connection[Any] = raw(connection)
    return own


@contextmanager
def apart(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Run the block so that a failure in it undoes nothing else of the connection's transaction."""
    if connection.autocommit and connection.info.transaction_status is psycopg.pq.TransactionStatus.IDLE:
        yield
        return
    with translated():
        connection.execute("savepoint howdah_kombu")
    try:
        yield
    except BaseException:
        with suppress(psycopg.Error):  # the connection is lost: the first error says so
            connection.execute("rollback to savepoint howdah_kombu")
            connection.execute("release savepoint howdah_kombu")
        raise
    connection.execute("release savepoint howdah_kombu")


class Sharing:
    """What the sessions of a process share, so that one receives from a queue that another made for answers."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(16)
        self.servers: weakref.WeakSet[Server] = weakref.WeakSet()
        #: What Howdah calls the queues of answers that they have made, by AMQP's names.
        self.queues: dict[str, str] = {}

    @staticmethod
    def of(dsn: str) -> Sharing:
        """The process's one for a database."""
        return _sharing.setdefault((dsn, os.getpid()), Sharing())


class Server:
    """One session, shared by the threads of a worker. It connects anew where a call may be made twice."""

    def __init__(self, url: str, timeout: float | None) -> None:
        """url: as users write it, howdah://user@host/database."""
        defaults: dict[str, Any] = {**KEEPALIVES, "application_name": "howdah kombu"}
        if timeout:
            defaults["connect_timeout"] = max(2, round(timeout))
        given = canonical(_SCHEME.sub("postgresql://", url))
        self.dsn = canonical(given, **{name: v for name, v in defaults.items() if name not in conninfo_to_dict(given)})
        self._named = False
        self._connection: psycopg.Connection[Any] | None = None
        self._process = os.getpid()
        self._lock = threading.RLock()

    def connect(self) -> psycopg.Connection[Any]:
        """The session, begun if there is none. Raises CannotConnect."""
        if self._connection is not None and self._process != os.getpid():
            self._connection = None  # the parent's: closing it here would end it there
            self._named = False
        if self._connection is None or self._connection.closed:
            try:
                self._connection = psycopg.connect(self.dsn, autocommit=True)
            except psycopg.Error as error:
                raise cannot_connect(error) from error
            self._process = os.getpid()
            # kombu's pools forget connections without closing them.
            weakref.finalize(self, _end, self._connection, self._process).atexit = False
            if self._named:
                self._name(self._connection)
        return self._connection

    def run(self, call: Call[T], *, twice: bool = True) -> T:
        """Make a call in a transaction of its own. twice: it may be made again on a new session."""
        with self._lock:
            for last in (False, True) if twice else (True,):
                connection = self.connect()
                try:
                    return run(connection, call)
                except ConnectionLost:
                    self._drop()
                    if last:
                        raise
        raise AssertionError("unreachable")

    @property
    def sharing(self) -> Sharing:
        """What it shares with the process's other sessions."""
        return Sharing.of(self.dsn)

    def share(self) -> None:
        """Join the sessions of the process that share."""
        with self._lock:
            connection = self.connect()
            if not self._named:
                self._named = True
                self._name(connection)

    def temporary_queue(self) -> str:
        """Create a queue that ends with the last of the process's sessions, whatever becomes of this one."""
        with self._lock:
            self.share()
            return self.run(create())

    def _name(self, connection: psycopg.Connection[Any]) -> None:
        self.sharing.servers.add(self)
        run(connection, set_connection(self.sharing.token, local=False))

    def close(self) -> None:
        """End the session. The last one ends the temporary queues."""
        with self._lock:
            if self._process == os.getpid() and self._connection is not None and not self._connection.closed:
                if self._named:
                    self.sharing.servers.discard(self)
                    if not self.sharing.servers:
                        self.sharing.queues.clear()
                        with suppress(Exception):
                            run(self._connection, close())
                self._drop()
            self._connection = None

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()


def _end(connection: psycopg.Connection[Any], process: int) -> None:
    if process == os.getpid() and not connection.closed:
        with suppress(psycopg.Error):
            connection.close()
