"""Connections to Howdah: a pool of database connections that sessions are made from."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from . import calls
from .admin import Admin
from .errors import BadArgument, CannotConnect, IllegalState
from .runner import run
from .session import Session


class Connection:
    """A started or stopped connection; sessions receive only while it is started. Closing it closes its sessions."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]], *, owns_pool: bool, started: bool) -> None:
        self._pool = pool
        self._owns_pool = owns_pool
        self._running = threading.Event()
        self._closed = False
        self._sessions: set[Session] = set()
        self._lock = threading.Lock()
        if started:
            self._running.set()

    @property
    def pool(self) -> ConnectionPool[psycopg.Connection[Any]]:
        """The pool beneath, for the application's own use."""
        return self._pool

    @property
    def started(self) -> bool:
        """Whether sessions may receive."""
        return self._running.is_set()

    def start(self) -> None:
        """Let sessions receive."""
        self._running.set()

    def stop(self) -> None:
        """Let sessions receive nothing more; sending goes on, and time-outs of waiting receives run on."""
        self._running.clear()

    def session(self, *, transacted: bool = True) -> Session:
        """A session on a connection from the pool; waits for a free one up to the pool's time-out.

        Raises CannotConnect if none came free or the server does not answer.
        """
        connection = self._take()
        session: Session

        def release() -> None:
            with self._lock:
                self._sessions.discard(session)
            self._give_back(connection)

        session = Session.owning(
            connection, transacted=transacted, started=self._running.is_set, release=release, record=self._record
        )
        with self._lock:
            self._sessions.add(session)
        return session

    @property
    def admin(self) -> Admin:
        """The administrator's verbs, each in a transaction of its own."""
        return Admin(self.call)

    def call(self, call: calls.Call[Any]) -> Any:
        """Run one call in a transaction of its own."""
        connection = self._take()
        try:
            connection.autocommit = True
            return run(connection, call)
        finally:
            self._give_back(connection)

    def send(self, queue: str, body: calls.Body, **options: Any) -> int:
        """Send one message in a transaction of its own; when this returns, the message is stored durably."""
        return int(self.call(calls.send(queue, body, **options)))

    def _record(self, queue: str, failure: Mapping[str, Any]) -> None:
        self.call(calls.record_failures(queue, [failure]))

    def _take(self) -> psycopg.Connection[Any]:
        if self._closed:
            raise IllegalState("the connection is closed")
        try:
            return self._pool.getconn()
        except PoolTimeout as error:
            raise CannotConnect(
                f"no database connection came free: {error}", "Check the DSN, or raise max_size."
            ) from error

    def _give_back(self, connection: psycopg.Connection[Any]) -> None:
        if not connection.closed:
            try:
                connection.rollback()
                connection.autocommit = False
            except psycopg.Error:
                connection.close()
        self._pool.putconn(connection)

    def close(self) -> None:
        """Close every session and, if it is this connection's own, the pool. A second call does nothing."""
        if self._closed:
            return
        with self._lock:
            sessions = list(self._sessions)
        for session in sessions:
            session.close()
        self._closed = True
        if self._owns_pool:
            self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def connect(
    dsn: str | None = None,
    *,
    pool: ConnectionPool[psycopg.Connection[Any]] | None = None,
    min_size: int = 1,
    max_size: int = 10,
    timeout: float = 30,
    started: bool = True,
    role: str | None = None,
) -> Connection:
    """Connect by DSN (libpq's form; None: HOWDAH_DSN, else the embedded server) or by the application's own pool.

    min_size, max_size: database connections kept and allowed; timeout: seconds to wait for one.
    role: SET ROLE on each connection. Raises CannotConnect if the server does not answer, BadArgument for wrong sizes.
    """
    if pool is not None:
        return Connection(pool, owns_pool=False, started=started)
    if max_size <= 0 or max_size < min_size or min_size < 0:
        raise BadArgument(f"max_size {max_size} must be positive and not below min_size {min_size}")
    if dsn is None:
        from .embedded import default_dsn

        dsn = default_dsn()
    try:
        psycopg.connect(dsn, connect_timeout=max(2, int(timeout))).close()
    except psycopg.Error as error:
        raise CannotConnect(f"cannot connect: {str(error).strip()}", "Check --dsn or HOWDAH_DSN.") from error
    configure: Callable[[psycopg.Connection[Any]], None] | None = None
    if role is not None:
        configure = _set_role(role)
    made: ConnectionPool[psycopg.Connection[Any]] = ConnectionPool(
        dsn, min_size=min_size, max_size=max_size, timeout=timeout, open=False, configure=configure, name="howdah"
    )
    made.open()
    return Connection(made, owns_pool=True, started=started)


def _set_role(role: str) -> Callable[[psycopg.Connection[Any]], None]:
    def configure(connection: psycopg.Connection[Any]) -> None:
        connection.execute("select set_config('role', %s, false)", (role,))
        connection.commit()

    return configure


class ConnectionFactory:
    """Settings for connections that are created stopped, as JMS has it."""

    def __init__(
        self, dsn: str | None = None, user: str | None = None, password: str | None = None, **settings: Any
    ) -> None:
        """settings: min_size, max_size, timeout, role as for ``connect``."""
        parts = {"user": user, "password": password}
        given = {name: value for name, value in parts.items() if value is not None}
        self._dsn = psycopg.conninfo.make_conninfo(dsn or "", **given) if given else dsn
        self._settings = settings

    def create_connection(self) -> Connection:
        """A new connection, stopped: call ``start`` when its consumers are ready."""
        return connect(self._dsn, started=False, **self._settings)
