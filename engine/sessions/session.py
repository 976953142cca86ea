# Written by tools/make_sync.py from engine/aio/session.py: change that, and run make sync.
"""A session: one connection, one transaction at a time, and the verbs of a queue.

``Session(connection)`` works inside a connection the caller owns (psycopg, SQLAlchemy): it never commits. Sessions
made by ``Connection.session()`` own theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Unpack

from .. import calls
from ..admin import Admin
from ..calls import consumers, results, temporary, topics
from ..calls.bodies import Body
from ..calls.message import Message
from ..calls.objects import lookup as look_up
from ..calls.objects import overriding
from ..calls.options import (
    BrowseOptions,
    ConsumerOptions,
    ReceiveOptions,
    RespondOptions,
    SendManyOptions,
    SendOptions,
    SharedOptions,
)
from ..calls.receiving import Asked
from ..calls.results import Result
from ..database.waiting import Idle
from ..errors import IllegalState
from ..handling.functions import check_listener
from ..handling.outcomes import Rule, Rules
from ..sending.copying import send_copy
from ..sending.stream import BATCH_DEFAULT, send_stream
from ..tracing.points import loading, sending
from .dispatch import Dispatcher, Listener, TransactedListeners
from .producer import Browser, Consumer, Producer
from .transacting import Transacting


def _wait_result(message_id: int, queue: str, since: int | None) -> calls.Call[Asked]:
    return results.wait_result(queue, message_id, since)


class Session(Transacting):
    """The verbs over one connection. Two callers must not use it at once, but anybody may close it."""

    _listeners: TransactedListeners | None = None

    @property
    def admin(self) -> Admin:
        """Administration, in the session's transaction."""
        return Admin(self.call)

    def lookup(self, name: str, overrides: Mapping[str, Any] | None = None) -> Any:
        """Find an administered object by its name, as ``Connection.lookup``, in the session's transaction."""
        if self._owner is None:
            raise IllegalState("this session's connection is the caller's own", "Look up by engine.lookup(dsn, name).")
        found = self.call(look_up(name))
        if wanted := overriding(found, overrides):
            found = self.call(look_up(name, wanted))
        return self._owner.found(found)

    # -- messages -------------------------------------------------------------------------------------------------

    def send(self, queue: str, body: Body, **options: Unpack[SendOptions]) -> int:
        """Send one message and return its number. Options as in ``calls.send``."""
        with sending(queue, options, connection=self._connection) as carried:
            return self.call(calls.send(queue, body, **self._levels.stamped(queue, carried)))

    def send_many(self, queue: str, bodies: Sequence[Body], **options: Unpack[SendManyOptions]) -> list[int]:
        """Send many messages in one statement and return their numbers in order. Options as in ``calls.send_many``."""
        with sending(queue, options, len(bodies), connection=self._connection) as carried:
            wanted = self._levels.stamped(queue, carried, len(bodies))
            return self.call(calls.send_many(queue, bodies, **wanted))

    def send_stream(
        self, queue: str, bodies: Iterable[Body], *, batch: int = BATCH_DEFAULT, **options: Unpack[SharedOptions]
    ) -> int:
        """Send all bodies of an iterable in one transaction, with bounded memory. Returns how many.

        ``batch`` bodies go in one statement and are of one kind; options are those of ``calls.send_many`` that are not
        sequences. After an error, the iterable's own too, nothing is sent. The iterable must not use this session.
        """
        wanted, every = self._levels.applied_to_load(queue, options), self._levels.every(queue)
        with loading(queue, connection=self._connection) as counted:
            return counted(self._load(lambda connection: send_stream(connection, queue, bodies, batch, wanted, every)))

    def send_copy(
        self, queue: str, rows: Iterable[Any], *, columns: Sequence[str] = (), **options: Unpack[SharedOptions]
    ) -> int:
        """Send all rows of an iterable by COPY, in one transaction. Returns how many.

        A row is a body or, with ``columns``, a sequence of the body and these columns: headers, priority,
        correlation_id, message_type, conversation_id, deduplication_key. All bodies are of one kind; otherwise as
        ``send_stream``.
        """
        wanted, every = self._levels.applied_to_load(queue, options), self._levels.every(queue)
        with loading(queue, connection=self._connection) as counted:
            return counted(self._load(lambda connection: send_copy(connection, queue, rows, columns, wanted, every)))

    def receive(
        self,
        queue: str,
        max_messages: int = 1,
        *,
        wait: float = 0,
        selector: str | None = None,
        consumer: int | None = None,
    ) -> list[Message]:
        """Receive up to max_messages, waiting up to ``wait`` seconds for the first; [] if none came or on close.

        The transaction stays open: commit consumes them, rollback puts them back.

        - queue: it may be a wildcard, ``JOBS.>``.
        - selector: receive only what it selects.
        - consumer: a number from ``open_consumer``.
        """
        return self.receive_until(queue, max_messages, wait, lambda: False, selector=selector, consumer=consumer)

    def open_consumer(self, queue: str, **options: Unpack[ConsumerOptions]) -> int | None:
        """Register a consumer and commit; needed by unshared subscriptions and queues that tell consumers apart.

        Returns None for a shared subscription, which needs none.

        Options: exclusive, priority, own_session, timeout.
        """
        self._check(queue)
        wanted: ConsumerOptions = {"instance": self._levels.home, **options}
        return self.call(consumers.open_consumer(queue, **wanted))

    def close_consumer(self, consumer: int) -> bool:
        """End a consumer. The others get its share at commit. Returns False if it was not open."""
        return self.call(consumers.close_consumer(consumer))

    def receive_until(
        self,
        queue: str,
        max_messages: int,
        wait: float | None,
        given_up: Callable[[], bool],
        **which: Unpack[ReceiveOptions],
    ) -> list[Message]:
        """As receive, but ``wake`` also ends it once ``given_up`` is true. wait None: no limit."""
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

    def look(self, queue: str, max_messages: int, idle: Idle, **which: Unpack[ReceiveOptions]) -> list[Message]:
        """As receive_now, but first ask to be woken if that is due."""
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

    def _check(self, queue: str) -> None:
        """Refuse what this client may not use. Its own subscriptions it may."""
        if queue not in self._fleeting:
            self._levels.check(queue)

    def _is_ready(self) -> bool:
        """Whether it may receive: not while its connection is stopped."""
        return self._owner is None or self._owner.started

    def receive_now(self, queue: str, max_messages: int = 1, **which: Unpack[ReceiveOptions]) -> list[Message]:
        """Receive up to max_messages that are there now. If there are none, leaves no new transaction open."""
        self._check(queue)
        if not self._is_ready():
            return []
        with self._in_use:
            idle = self._is_idle()
            call = self._levels.received(calls.receive(queue, max_messages, **which))
            messages = self._received(queue, call)
            if idle and not messages:
                # Not a rollback: what was received may have been expired messages and poison, which are gone now.
                self.commit()
            return messages

    def receive_message(self, queue: str, message_id: int) -> Message | None:
        """Receive the message of that number. None if it is not there, not due or in other hands."""
        self._check(queue)
        call = self._levels.received(calls.receive_message(queue, message_id))
        messages = self._received(queue, call) if self._is_ready() else []
        return messages[0] if messages else None

    def receive_correlated(self, queue: str, correlation_id: str, max_messages: int = 1) -> list[Message]:
        """Receive messages with a correlation id, wherever in the queue they are, in this session's transaction."""
        self._check(queue)
        call = self._levels.received(calls.receive_correlated(queue, correlation_id, max_messages))
        return self._received(queue, call) if self._is_ready() else []

    def keep_result(self, message: Message, value: Any = None) -> bool:
        """Keep what a received message was handled to, in this session's transaction; a value is JSON.

        Returns False if the queue keeps no results (keep_results_ms). Raises BadArgument for what JSON cannot hold.
        """
        return self.call(results.keep_result(message, value))

    def result(self, queue: str, message_id: int, *, wait: float = 0) -> Result:
        """Tell what became of a message, waiting up to ``wait`` seconds until it is handled, has failed or expired.

        Commits while it waits if no transaction is open. In an open one nothing wakes it: it looks four times a second.
        """
        with Idle(self._waking, self.wake, wait) as idle:
            while True:
                found = self._look_at_result(queue, message_id, idle)
                pause = idle.pause() if found.is_open and not self._closing else None
                if pause is None:
                    return found
                self.sleep(pause)

    def _look_at_result(self, queue: str, message_id: int, idle: Idle) -> Result:
        with self._in_use:
            alone = self._is_idle()
            waiting = partial(_wait_result, message_id)
            ask = idle.ask(queue, waiting) if alone or not self._transacted else None
            if ask is not None:
                idle.asked(queue, self.call(ask))
                if alone:
                    self.commit()
            found = self.call(results.result(queue, message_id))
            if alone:
                self.commit()
            return found

    def browse(
        self,
        queue: str,
        max_messages: int = 100,
        *,
        after: Message | tuple[int, int] | None = None,
        **which: Unpack[BrowseOptions],
    ) -> list[Message]:
        """Return a page of ready messages, all or ``which`` as in ``calls.browse``. Takes and locks nothing."""
        self._check(queue)
        call, seconds = calls.browse(queue, max_messages, after=after, **which), self._levels.page_timeout
        with self._in_use:
            if seconds is not None:
                return self._within(seconds, call)
            idle = self._is_idle()
            messages = self.call(call)
            if idle:
                self.commit()
            return messages

    def create_temporary_queue(self) -> str:
        """Create a queue for answers and return its name. It ends with this session, which alone receives from it.

        Where the connection is the caller's own, it ends with that, or by ``temporary.close``.
        """
        idle = self._is_idle()
        name = self.call(temporary.create())
        if idle:
            self.commit()
        self._temporary = True
        return name

    def respond(self, request: Message, body: Body, **options: Unpack[RespondOptions]) -> int | None:
        """Answer a request in this session's transaction; None if nobody waits. Options as in ``temporary.respond``."""
        queue = request.reply_to or ""
        with sending(queue, options, connection=self._connection) as carried:
            return self.call(temporary.respond(request, body, **self._levels.answered(queue, carried)))

    def producer(self, queue: str | None = None) -> Producer:
        """Return a producer for one queue, or for a queue named at each send."""
        return Producer(self, queue)

    def consumer(self, queue: str) -> Consumer:
        """Return a consumer of one queue."""
        return Consumer(self, queue)

    def subscriber(
        self, topic: str, *, selector: str | None = None, client_id: str | None = None, no_local: bool = False
    ) -> Consumer:
        """Subscribe to a topic or wildcard from now on; the subscription is not durable and ends with the session.

        client_id: None is the connection's. What the topic's recovery policy keeps for late subscribers comes first.
        Where the connection is the caller's own, the subscription ends a minute after it was last received from.
        """
        self._check(topic)
        self._levels.check_client_id(client_id)
        idle = self._is_idle()
        client_id = (self._client_id() or "") if client_id is None else client_id
        wanted = topics.Subscription(topic, None, client_id, selector, durable=False, no_local=no_local)
        name = self.call(wanted.call())
        if idle:
            self.commit()
        self._fleeting.append(name)
        return Consumer(self, name)

    def set_client_id(self, client_id: str | None) -> None:
        """Set the client id under which this transaction publishes. Its own no_local subscriptions get none of that."""
        if not self._transacted:
            raise IllegalState("a session that is not transacted has no transaction to set it for")
        if self._client_id() is not None:
            raise IllegalState(f"the connection has claimed the client id {self._client_id()}")
        self.call(topics.set_client_id(client_id))

    def browser(self, queue: str, selector: str | None = None) -> Browser:
        """Return a browser of one queue, or of what a selector selects of it."""
        return Browser(self, queue, self._levels.page, selector=selector)

    def listen(
        self, queue: str, listener: Listener | None, *, consumer: object = None, rules: Iterable[Rule] = ()
    ) -> None:
        """Call ``listener`` with each message of a queue, on a thread or, in asyncio, in a task. None ends it.

        The session belongs to that from then on. A listener that returns commits; one that raises rolls back, and the
        failure is recorded outside. It may raise Reject or Retry; ``rules`` name outcomes by class of exception, such
        as (ValueError, Reject). ``consumer`` tells two listeners of one queue apart. Raises BadArgument for what is no
        rule,
        for a generator function, and for a plain one in asyncio or an asynchronous one elsewhere.
        """
        self._check(queue)
        checked = Rules(rules)
        if listener is not None:
            check_listener(listener)
        if self._connection is None or self._closing:
            raise IllegalState("the session is closed")
        if self._loans is None or not self._transacted:
            raise IllegalState("listeners need a transacted session of a connection")
        if self._dispatcher is None or self._listeners is None:
            self._listeners = TransactedListeners(self)
            self._dispatcher = Dispatcher("howdah-session", self, self._listeners)
        self._listeners.set(consumer or queue, queue, listener, checked)
        if listener is None:
            self._dispatcher.changed()
        else:
            self._dispatcher.start()
