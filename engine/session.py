"""A session: one connection, one transaction at a time, and the verbs of a queue.

``Session(connection)`` works inside a connection the caller owns (psycopg, SQLAlchemy): it never commits. Sessions made
by ``Connection.session()`` own theirs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import psycopg

from . import calls
from .calls import Body, Call
from .dispatch import Dispatcher, Listener
from .errors import IllegalState, translated
from .message import Message
from .runner import SyncConnection, run

if TYPE_CHECKING:
    from .producer import Browser, Consumer, Producer

T = TypeVar("T")

POLL_SECONDS_MIN = 0.005
POLL_SECONDS_MAX = 0.25


class Session:
    """Verbs over one connection; not for use by two threads at once."""

    def __init__(self, connection: SyncConnection) -> None:
        self._connection: SyncConnection | None = connection
        self._owned = False
        self._transacted = True
        self._release: Callable[[], None] = lambda: None
        self._started: Callable[[], bool] = lambda: True
        self._record: Callable[[str, dict[str, object]], None] | None = None
        self._dispatcher: Dispatcher | None = None
        self._closing = threading.Event()
        self._in_use = threading.RLock()

    @classmethod
    def owning(
        cls,
        connection: psycopg.Connection[Any],
        *,
        transacted: bool,
        started: Callable[[], bool],
        release: Callable[[], None],
        record: Callable[[str, dict[str, object]], None],
    ) -> Self:
        """A session that commits and rolls back itself and gives its connection back when it is closed.

        Not transacted: every call commits at once, so a received message is gone before ``receive`` returns.
        """
        session = cls(connection)
        session._owned, session._transacted = True, transacted
        session._release, session._started, session._record = release, started, record
        connection.autocommit = not transacted
        return session

    @property
    def transacted(self) -> bool:
        """Whether a transaction spans several calls."""
        return self._transacted

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closing.is_set()

    @property
    def connection(self) -> Any:
        """The connection beneath, for the application's own statements in the same transaction."""
        return self._live()

    def _live(self) -> SyncConnection:
        if self._connection is None or self._closing.is_set():
            raise IllegalState("the session is closed")
        return self._connection

    def call(self, call: Call[T]) -> T:
        """Run any call in this session's transaction."""
        with self._in_use:
            return run(self._live(), call)

    # -- messages -------------------------------------------------------------------------------------------------

    def send(self, queue: str, body: Body, **options: Any) -> int:
        """Send one message and return its number; options as in ``calls.send``."""
        return self.call(calls.send(queue, body, **options))

    def send_many(self, queue: str, bodies: Sequence[Body], **options: Any) -> list[int]:
        """Send many messages in one statement and return their numbers in order; options as in ``calls.send_many``."""
        return self.call(calls.send_many(queue, bodies, **options))

    def receive(self, queue: str, max_messages: int = 1, *, wait: float = 0) -> list[Message]:
        """Up to max_messages messages, waiting up to ``wait`` seconds for the first; [] if none came or the session closed.

        The transaction stays open with them: commit consumes them, rollback puts them back.
        """
        deadline = time.monotonic() + wait
        pause = POLL_SECONDS_MIN
        while not self._closing.is_set():
            messages = self.receive_now(queue, max_messages)
            if messages:
                return messages
            left = deadline - time.monotonic()
            if left <= 0:
                return []
            self._closing.wait(min(pause, left))
            pause = min(pause * 2, POLL_SECONDS_MAX)
        return []

    def receive_now(self, queue: str, max_messages: int = 1) -> list[Message]:
        """Up to max_messages messages that are there now; without any, no transaction is left open that was not before."""
        if not self._started():
            return []
        idle = self._is_idle()
        messages = self.call(calls.receive(queue, max_messages))
        if idle and not messages:
            self.rollback()
        return messages

    def browse(self, queue: str, max_messages: int = 100, *, after: Message | None = None) -> list[Message]:
        """One page of ready messages; nothing is taken or locked."""
        return self.call(calls.browse(queue, max_messages, after=after))

    def producer(self, queue: str | None = None) -> Producer:
        """A producer for one queue, or for a queue named at each send."""
        from .producer import Producer

        return Producer(self, queue)

    def consumer(self, queue: str) -> Consumer:
        """A consumer of one queue."""
        from .producer import Consumer

        return Consumer(self, queue)

    def browser(self, queue: str) -> Browser:
        """A browser of one queue."""
        from .producer import Browser

        return Browser(self, queue)

    def listen(self, queue: str, listener: Listener | None) -> None:
        """Call ``listener`` with each message of a queue, on this session's own thread; None ends it.

        The session belongs to that thread from then on. A listener that returns commits; one that raises rolls back,
        and the failure is recorded outside.
        """
        self._own()
        if self._record is None or not self._transacted:
            raise IllegalState("listeners need a transacted session of a connection")
        if self._dispatcher is None:
            self._dispatcher = Dispatcher(self, self._record)
        if listener is None:
            self._dispatcher.listeners.pop(queue, None)
        else:
            self._dispatcher.listeners[queue] = listener
            if not self._dispatcher.is_alive():
                self._dispatcher.start()

    # -- transaction ----------------------------------------------------------------------------------------------

    def _own(self) -> psycopg.Connection[Any]:
        connection = self._live()
        if not self._owned or not isinstance(connection, psycopg.Connection):
            raise IllegalState("the transaction belongs to the caller's connection", "Commit or roll back there.")
        return connection

    def _is_idle(self) -> bool:
        """Whether this session owns its transaction and none is open."""
        connection = self._connection
        if not self._owned or not self._transacted or not isinstance(connection, psycopg.Connection):
            return False
        return connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE

    def commit(self) -> None:
        """Make what was sent, received and written since the last commit permanent."""
        connection = self._own()
        if not self._transacted:
            raise IllegalState("a session that is not transacted has nothing to commit")
        with translated():
            connection.commit()

    def rollback(self) -> None:
        """Undo what was sent, received and written since the last commit; messages are back in their place."""
        connection = self._own()
        if not self._transacted:
            raise IllegalState("a session that is not transacted has nothing to roll back")
        with translated():
            connection.rollback()

    @contextmanager
    def transaction(self) -> Iterator[Self]:
        """Commit at the end of the block, roll back if it raises."""
        try:
            yield self
        except BaseException:
            if not self._closing.is_set():
                self.rollback()
            raise
        self.commit()

    def close(self) -> None:
        """Roll back what is open and give the connection back; a waiting ``receive`` returns []. A second call does nothing."""
        if self._closing.is_set():
            return
        if self._dispatcher is not None:
            self._dispatcher.stopping.set()
            if self._dispatcher.is_alive() and self._dispatcher is not threading.current_thread():
                self._dispatcher.join()
        self._closing.set()
        with self._in_use:
            self._connection = None
        self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
