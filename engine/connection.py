"""Connections to Howdah: a pool of database connections that sessions are made from."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any, Self, TypeVar

from psycopg_pool import ConnectionPool

from . import calls
from .admin import Admin
from .bodies import Body
from .calls import Call, Incident
from .errors import IllegalState
from .failure import recording
from .leases import Leases
from .loans import Loans, PgConnection
from .message import Message
from .outcomes import Rule
from .runner import run
from .sender import Sender
from .session import Session
from .waking import Waking

T = TypeVar("T")


class Connection:
    """A started or stopped connection; sessions receive only while it is started. Closing it closes its sessions."""

    def __init__(
        self, pool: ConnectionPool[PgConnection], *, owns_pool: bool, started: bool, max_redeliveries: int | None = None
    ) -> None:
        self._loans = Loans(pool)
        #: Redeliveries at most of what its listeners get, beside the queue's own limit; None: the queue's alone.
        self.max_redeliveries = max_redeliveries
        #: Shared with the process's other connections to the same database.
        self.waking = Waking.of_pool(pool)
        self._owns_pool = owns_pool
        self._running = threading.Event()
        self._closed = False
        self._sessions: set[Session] = set()
        self._sender = Sender(self._loans)
        self._lock = threading.Lock()
        if started:
            self._running.set()

    @property
    def pool(self) -> ConnectionPool[PgConnection]:
        """The pool beneath, for the application's own use."""
        return self._loans.pool

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
        self._check_open()
        session = Session.owning(self, self._loans, transacted=transacted)
        with self._lock:
            self._sessions.add(session)
            closed = self._closed
        if closed:  # by another thread, in between
            session.close()
            self._check_open()
        return session

    def forget(self, session: Session) -> None:
        """A session was closed."""
        with self._lock:
            self._sessions.discard(session)

    @property
    def admin(self) -> Admin:
        """The administrator's verbs, each in a transaction of its own."""
        return Admin(self.call)

    @property
    def leases(self) -> Leases:
        """Receiving without an open transaction: lease, ack, nack, release, extend."""
        return Leases(self.call)

    def call(self, call: Call[T]) -> T:
        """Run one call in a transaction of its own."""
        self._check_open()
        connection = self._loans.borrow(autocommit=True)
        try:
            return run(connection, call)
        finally:
            self._loans.give_back(connection)

    def send(self, queue: str, body: Body, **options: Any) -> int:
        """Send one message in a transaction of its own; when this returns, the message is stored durably."""
        return self.call(calls.send(queue, body, **options))

    def send_async(self, queue: str, body: Body, **options: Any) -> Future[int]:
        """Send one message without waiting for the database; the future has its number, or the error.

        Messages go in the order of these calls, each in a transaction of its own. ``close`` sends what is left; what a
        process that dies has not sent is lost, so look at the future where a message must not be.
        """
        return self._sender.submit(lambda: calls.send(queue, body, **options))

    def record_failure(self, message: Message, error: BaseException, rules: Iterable[Rule] = ()) -> Incident | None:
        """Record that a message's delivery failed, in a transaction of its own; call it after rolling back.

        A Reject or Retry, raised or by the rules, is obeyed. None if the error blames no message: nothing is recorded.
        """
        call = recording(message, error, rules, self.max_redeliveries)
        return None if call is None else self.call(call)

    def _check_open(self) -> None:
        if self._closed:
            raise IllegalState("the connection is closed")

    def close(self) -> None:
        """Send what is left, close every session and, if it is this connection's own, the pool. A second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            sessions = list(self._sessions)
        for session in sessions:
            session.close()
        self._sender.close()
        if self.waking is not None:
            self.waking.release()
        if self._owns_pool:
            self.pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
