# Written by tools/make_sync.py from engine/aio/session.py: change that, and run make sync.
"""A session: one connection, one transaction at a time, and the verbs of a queue.

``Session(connection)`` works inside a connection the caller owns (psycopg, SQLAlchemy): it never commits. Sessions
made by ``Connection.session()`` own theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from .. import calls
from ..admin import Admin
from ..calls import temporary, topics
from ..calls.bodies import Body
from ..calls.message import Message
from ..calls.objects import lookup as look_up
from ..calls.objects import overriding
from ..calls.options import (
    BrowseOptions,
    RespondOptions,
    SendManyOptions,
    SendOptions,
    SharedOptions,
)
from ..errors import IllegalState
from ..handling.functions import check_listener
from ..handling.outcomes import Rule, Rules
from ..sending.copying import send_copy
from ..sending.stream import BATCH_DEFAULT, send_stream
from ..tracing.points import loading, sending
from .dispatch import Dispatcher, Listener, TransactedListeners
from .producer import Browser, Consumer, Producer
from .receiving import Receiving


class Session(Receiving):
    """The verbs over one connection. Two callers must not use it at once, but anybody may close it."""

    _listeners: TransactedListeners | None = None

    @property
    def admin(self) -> Admin:
        """Administration, in the session's transaction."""
        return Admin(self.call, client_id=self._client_id() or "")

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
        wanted, every = self._levels.applied(queue, options, "load"), self._levels.every(queue)
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
        wanted, every = self._levels.applied(queue, options, "load"), self._levels.every(queue)
        with loading(queue, connection=self._connection) as counted:
            return counted(self._load(lambda connection: send_copy(connection, queue, rows, columns, wanted, every)))

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
        """Set the client id under which this transaction publishes. Its no_local subscriptions get none of that."""
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
