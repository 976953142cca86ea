"""A session: one connection, one transaction at a time, and the verbs of a queue.

``Session(connection)`` works inside a connection the caller owns (psycopg, SQLAlchemy): it never commits. Sessions made
by ``Connection.session()`` own theirs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

import psycopg

from .. import calls
from ..admin import topics
from ..calls import Call, consumers, temporary
from ..calls.bodies import Body
from ..calls.message import Message
from ..database.loans import Loans, PgConnection
from ..database.runner import SyncConnection, raw, run
from ..database.waiting import Asks, Idle
from ..database.waking import Waking
from ..errors import ConnectionLost, HowdahError, IllegalState, lost_translated
from ..handling.functions import check_listener
from ..handling.outcomes import Rule, Rules
from ..sending import copying, stream
from .dispatch import Dispatcher, Listener
from .producer import Browser, Consumer, Producer

if TYPE_CHECKING:
    from ..connection import Connection

T = TypeVar("T")


class Session:
    """Verbs over one connection; not for use by two threads at once, but any thread may close it."""

    def __init__(self, connection: SyncConnection) -> None:
        self._connection: SyncConnection | None = connection
        self._owner: Connection | None = None
        self._loans: Loans | None = None
        self._waking: Waking | None = None
        self._transacted = True
        self._dispatcher: Dispatcher | None = None
        self._closing = False
        #: Subscriptions that end with the session.
        self._fleeting: list[str] = []
        #: Whether it has temporary queues, which end with it.
        self._temporary = False
        #: Ends the pause of a waiting receive.
        self._wake = threading.Event()
        self._asks = Asks()
        #: Held while a statement runs, so that close gives no connection away in the middle of one.
        self._in_use = threading.RLock()

    @classmethod
    def owning(cls, owner: Connection, loans: Loans, *, transacted: bool) -> Self:
        """A session that commits and rolls back itself and gives its connection back when it is closed.

        Not transacted: every call commits at once, so a received message is gone before ``receive`` returns.
        """
        session = cls(loans.borrow(autocommit=not transacted))
        session._owner, session._loans, session._waking, session._transacted = owner, loans, owner.waking, transacted
        return session

    @property
    def max_redeliveries(self) -> int | None:
        """The connection's limit of redeliveries; None: the queue's alone."""
        return None if self._owner is None else self._owner.max_redeliveries

    @property
    def transacted(self) -> bool:
        """Whether a transaction spans several calls."""
        return self._transacted

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closing

    @property
    def connection(self) -> Any:
        """The connection beneath, for the application's own statements in the same transaction."""
        return self._live()

    def _live(self) -> SyncConnection:
        if self._connection is None or self._closing:
            raise IllegalState("the session is closed")
        dispatcher = self._dispatcher
        if dispatcher is not None and dispatcher.is_alive() and dispatcher is not threading.current_thread():
            raise IllegalState("a session with listeners belongs to their thread", "Make another session.")
        return self._connection

    def call(self, call: Call[T]) -> T:
        """Run any call in this session's transaction. If it fails as the first one, no broken transaction is left."""
        with self._in_use:
            connection = self._live()
            idle = self._is_idle()
            try:
                return run(connection, call)
            except Exception:
                if idle:
                    with suppress(ConnectionLost, psycopg.Error):
                        self.rollback()
                raise

    # -- messages -------------------------------------------------------------------------------------------------

    def send(self, queue: str, body: Body, **options: Any) -> int:
        """Send one message and return its number; options as in ``calls.send``."""
        return self.call(calls.send(queue, body, **options))

    def send_many(self, queue: str, bodies: Sequence[Body], **options: Any) -> list[int]:
        """Send many messages in one statement and return their numbers in order; options as in ``calls.send_many``."""
        return self.call(calls.send_many(queue, bodies, **options))

    def send_stream(
        self, queue: str, bodies: Iterable[Body], *, batch: int = stream.BATCH_DEFAULT, **options: Any
    ) -> int:
        """Send all that an iterable gives, in one transaction and with bounded memory; how many there were.

        ``batch`` bodies go in one statement and are of one kind; options are those of ``calls.send_many`` that are not
        sequences. After an error, the iterable's own too, nothing is sent. The iterable must not use this session.
        """
        return self._load(lambda connection: stream.send_stream(connection, queue, bodies, batch, options))

    def send_copy(self, queue: str, rows: Iterable[Any], *, columns: Sequence[str] = (), **options: Any) -> int:
        """Send all that an iterable gives by COPY, in one transaction; how many there were.

        A row is a body, or, with ``columns`` (headers, priority, correlation_id, message_type, conversation_id, deduplication_key),
        a sequence of the body and these. Bodies are of one kind. Otherwise as ``send_stream``.
        """
        return self._load(lambda connection: copying.send_copy(connection, queue, rows, columns, options))

    def _load(self, load: Callable[[psycopg.Connection[Any]], int]) -> int:
        with self._in_use:
            connection, idle = self._live(), self._is_idle()
            try:
                return load(raw(connection))
            except BaseException:
                if idle:
                    with suppress(ConnectionLost, psycopg.Error):
                        self.rollback()
                raise

    def receive(
        self,
        queue: str,
        max_messages: int = 1,
        *,
        wait: float = 0,
        selector: str | None = None,
        consumer: int | None = None,
    ) -> list[Message]:
        """Up to max_messages messages, waiting up to ``wait`` seconds for the first; [] if none came or the session closed.

        The transaction stays open with them: commit consumes them, rollback puts them back. selector: only what it selects;
        consumer: a number from ``open_consumer``; queue may be a wildcard, ``JOBS.>``.
        """
        return self.receive_until(queue, max_messages, wait, lambda: False, selector=selector, consumer=consumer)

    def open_consumer(self, queue: str, **options: Any) -> int | None:
        """Register as a consumer, for queues that tell theirs apart and unshared subscriptions; commit. None: a shared one, which needs none.

        Options: exclusive, priority, own_session, timeout.
        """
        return self.call(consumers.open_consumer(queue, **options))

    def close_consumer(self, consumer: int) -> bool:
        """End a consumer; its share goes to the others at commit. False: it was not open."""
        return self.call(consumers.close_consumer(consumer))

    def receive_until(
        self, queue: str, max_messages: int, wait: float | None, given_up: Callable[[], bool], **which: Any
    ) -> list[Message]:
        """As receive, also ended by ``wake`` once ``given_up`` is true; wait None: no limit."""
        with self.idle(wait) as idle:
            while not (self._closing or given_up()):
                try:
                    messages = self.look(queue, max_messages, idle, **which)
                except IllegalState:
                    if not self._closing:
                        raise
                    return []
                pause = None if messages else idle.pause()
                if pause is None:
                    return messages
                self.sleep(pause)
        return []

    def wake(self) -> None:
        """Have a waiting receive look again at once."""
        self._wake.set()

    def idle(self, wait: float | None = None) -> Idle:
        """The waiting of this session, up to so many seconds; None: no limit."""
        return Idle(self._waking, self.wake, wait, self._asks)

    def look(self, queue: str, max_messages: int, idle: Idle, **which: Any) -> list[Message]:
        """As receive_now, having asked to be woken if it is time to."""
        with self._in_use:
            ask = idle.ask(queue) if self._is_ready() else None
            if ask is not None:
                alone = self._is_idle()
                idle.asked(queue, self.call(ask))
                if alone:
                    self.commit()
            messages = self.receive_now(queue, max_messages, **which)
            if messages:
                idle.found()
            return messages

    def sleep(self, seconds: float) -> None:
        """Until then, or until somebody calls ``wake``."""
        if self._wake.wait(seconds):
            self._wake.clear()

    def _is_ready(self) -> bool:
        """Whether it may receive: not while the connection that it is a session of is stopped."""
        return self._owner is None or self._owner.started

    def receive_now(self, queue: str, max_messages: int = 1, **which: Any) -> list[Message]:
        """Up to max_messages messages that are there now; without any, no transaction is left open that was not before."""
        if not self._is_ready():
            return []
        with self._in_use:
            idle = self._is_idle()
            messages = self.call(calls.receive(queue, max_messages, **which))
            if idle and not messages:
                # Not a rollback: what was received may have been expired messages and poison, which are gone now.
                self.commit()
            return messages

    def receive_message(self, queue: str, message_id: int) -> Message | None:
        """Take the message of that number, in this session's transaction; None if it is not there, not due or in other hands."""
        messages = self.call(calls.receive_message(queue, message_id)) if self._is_ready() else []
        return messages[0] if messages else None

    def receive_correlated(self, queue: str, correlation_id: str, max_messages: int = 1) -> list[Message]:
        """Take messages of that correlation id, in this session's transaction, wherever in the queue they lie."""
        return self.call(calls.receive_correlated(queue, correlation_id, max_messages)) if self._is_ready() else []

    def browse(
        self, queue: str, max_messages: int = 100, *, after: Message | None = None, **which: Any
    ) -> list[Message]:
        """One page of ready messages, all or ``which`` as in ``calls.browse``; nothing is taken or locked."""
        with self._in_use:
            idle = self._is_idle()
            messages = self.call(calls.browse(queue, max_messages, after=after, **which))
            if idle:
                self.commit()
            return messages

    def create_temporary_queue(self) -> str:
        """Create a queue for answers that ends with this session, which alone receives from it; its name.

        Where the connection is the caller's own, it ends with that, or by ``temporary.close``.
        """
        idle = self._is_idle()
        name = self.call(temporary.create())
        if idle:
            self.commit()
        self._temporary = True
        return name

    def respond(self, request: Message, body: Body, **options: Any) -> int | None:
        """Answer a request in this session's transaction; None if nobody waits any more. Options as in ``temporary.respond``."""
        return self.call(temporary.respond(request, body, **options))

    def producer(self, queue: str | None = None) -> Producer:
        """A producer for one queue, or for a queue named at each send."""
        return Producer(self, queue)

    def consumer(self, queue: str) -> Consumer:
        """A consumer of one queue."""
        return Consumer(self, queue)

    def subscriber(
        self, topic: str, *, selector: str | None = None, client_id: str | None = None, no_local: bool = False
    ) -> Consumer:
        """A consumer of a topic, or a wildcard, from now on: of a subscription that is not durable and ends with the session.

        client_id: None, the connection's. What the topic's recovery policy keeps for late comers comes first. Where the connection is the caller's own, the
        subscription ends a minute after it was last received from.
        """
        idle = self._is_idle()
        client_id = (self._client_id() or "") if client_id is None else client_id
        wanted = topics.Subscription(topic, None, client_id, selector, durable=False, no_local=no_local)
        name = self.call(wanted.call())
        if idle:
            self.commit()
        self._fleeting.append(name)
        return Consumer(self, name)

    def set_client_id(self, client_id: str | None) -> None:
        """Say under which client id this transaction publishes: subscriptions with no_local and the same do not get it."""
        if not self._transacted:
            raise IllegalState("a session that is not transacted has no transaction to set it for")
        if self._client_id() is not None:
            raise IllegalState(f"the connection has claimed the client id {self._client_id()}")
        self.call(topics.set_client_id(client_id))

    def _client_id(self) -> str | None:
        return None if self._owner is None else self._owner.client_id

    def browser(self, queue: str, selector: str | None = None) -> Browser:
        """A browser of one queue, or of what a selector selects of it."""
        return Browser(self, queue, selector=selector)

    def listen(
        self, queue: str, listener: Listener | None, *, consumer: object = None, rules: Iterable[Rule] = ()
    ) -> None:
        """Call ``listener`` with each message of a queue, on this session's own thread; None ends it.

        The session belongs to that thread from then on. A listener that returns commits; one that raises rolls back,
        and the failure is recorded outside. It may raise Reject or Retry; ``rules`` name outcomes by class of exception,
        such as (ValueError, Reject). ``consumer`` tells two listeners of one queue apart. Raises BadArgument for what is no rule,
        and for an async def or generator function, a call of which would run nothing.
        """
        checked = Rules(rules)
        if listener is not None:
            check_listener(listener)
        if self._connection is None or self._closing:
            raise IllegalState("the session is closed")
        if self._loans is None or not self._transacted:
            raise IllegalState("listeners need a transacted session of a connection")
        if self._dispatcher is None:
            self._dispatcher = Dispatcher(self)
        self._dispatcher.listen(consumer or queue, queue, listener, checked)

    # -- transaction ----------------------------------------------------------------------------------------------

    def _own(self) -> PgConnection:
        connection = self._live()
        if self._loans is None or not isinstance(connection, psycopg.Connection):
            raise IllegalState("the transaction belongs to the caller's connection", "Commit or roll back there.")
        return connection

    def _is_idle(self) -> bool:
        """Whether this session owns its transaction and none is open."""
        connection = self._connection
        if self._loans is None or not self._transacted or not isinstance(connection, psycopg.Connection):
            return False
        return connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE

    def _end(self, how: Callable[[PgConnection], None]) -> None:
        with self._in_use:
            connection = self._own()
            if not self._transacted:
                raise IllegalState("a session that is not transacted has no transaction to end")
            with lost_translated():
                how(connection)

    def commit(self) -> None:
        """Make what was sent, received and written since the last commit permanent."""
        self._end(psycopg.Connection.commit)

    def rollback(self) -> None:
        """Undo what was sent, received and written since the last commit; messages are back in their place."""
        self._end(psycopg.Connection.rollback)

    @contextmanager
    def transaction(self) -> Iterator[Self]:
        """Commit at the end of the block, roll back if it raises."""
        if not self._transacted:
            raise IllegalState("a session that is not transacted has no transactions")
        self._own()
        try:
            yield self
        except BaseException:
            # The block's own error is the one to be seen.
            with suppress(ConnectionLost, IllegalState, psycopg.Error):
                self.rollback()
            raise
        self.commit()

    # -- its life -------------------------------------------------------------------------------------------------

    def renew(self, timeout: float | None = None) -> None:
        """If the connection broke, put another in its place; what was open on it is rolled back by the server.

        Raises CannotConnect if there is none within ``timeout`` seconds.
        """
        with self._in_use:
            connection = self._own()
            if self._loans is not None and connection.closed:
                self._loans.give_back(connection)
                self._connection = self._loans.borrow(autocommit=not self._transacted, timeout=timeout)

    def close(self) -> None:
        """Roll back what is open and give the connection back; a waiting ``receive`` returns []. A second call does nothing.

        Listeners finish the message they have in hand; one that closes its own session closes it after that.
        """
        dispatcher = self._dispatcher
        if dispatcher is not None and dispatcher.is_alive():
            dispatcher.stop()
            if dispatcher is threading.current_thread():
                return
            dispatcher.join()
        self.finish()

    def finish(self) -> None:
        """The end of ``close``, once no listener runs any more."""
        self._closing = True  # before a call under way is waited for, so that none follows it
        self._wake.set()
        with self._in_use:
            connection, self._connection = self._connection, None
        if self._loans is not None and self._owner is not None and isinstance(connection, psycopg.Connection):
            self._owner.forget(self)
            # What cannot be ended now is ended by maintenance, a minute after it was last received from.
            with suppress(HowdahError, psycopg.Error):
                connection.rollback()
                for name in self._fleeting:
                    run(connection, topics.unsubscribe(name))
                    if self._transacted:
                        connection.commit()
                if self._temporary:
                    run(connection, temporary.close())
                    if self._transacted:
                        connection.commit()
            self._loans.give_back(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
