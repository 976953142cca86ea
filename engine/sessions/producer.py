# Written by tools/make_sync.py from engine/aio/producer.py: change that, and run make sync.
"""Producers, consumers and browsers: a session's verbs for a fixed queue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, Unpack

from ..calls.bodies import Body
from ..calls.message import Message
from ..calls.options import BrowseOptions, BrowserOptions, CopyOptions, SendManyOptions, SendOptions, StreamOptions
from ..errors import BadArgument, IllegalState


class Sends(Protocol):
    """A session, as a producer knows it."""

    def send(self, queue: str, body: Body, **options: Unpack[SendOptions]) -> int:
        """Send one message."""

    def send_many(self, queue: str, bodies: Sequence[Body], **options: Unpack[SendManyOptions]) -> list[int]:
        """Send many messages in one statement."""

    def send_stream(self, queue: str, bodies: Iterable[Body], **options: Unpack[StreamOptions]) -> int:
        """Send all bodies of an iterable."""

    def send_copy(self, queue: str, rows: Iterable[Any], **options: Unpack[CopyOptions]) -> int:
        """Send all rows of an iterable by COPY."""


class Receives(Protocol):
    """A session, as a consumer knows it."""

    @property
    def closed(self) -> bool:
        """Whether it is closed."""

    def receive_until(
        self, queue: str, max_messages: int, wait: float | None, given_up: Callable[[], bool]
    ) -> list[Message]:
        """Receive, until ``given_up`` is true."""

    def wake(self) -> None:
        """Make a waiting receive look again at once."""

    def listen(self, queue: str, listener: Callable[[Message], Any] | None, *, consumer: object = None) -> None:
        """Call a function with each message of a queue; None ends it."""


class Browses(Protocol):
    """A session, as a browser knows it."""

    def browse(
        self,
        queue: str,
        max_messages: int = 100,
        *,
        after: Message | tuple[int, int] | None = None,
        **which: Unpack[BrowseOptions],
    ) -> list[Message]:
        """Return a page of ready messages."""


class Producer:
    """Sends to one queue or, if made without one, to the queue named at each send."""

    def __init__(self, session: Sends, queue: str | None) -> None:
        self._session = session
        self.queue = queue

    def send(self, body: Body, *, queue: str | None = None, **options: Unpack[SendOptions]) -> int:
        """Send one message. Options as in ``calls.send``."""
        return self._session.send(self._target(queue), body, **options)

    def send_many(
        self, bodies: Sequence[Body], *, queue: str | None = None, **options: Unpack[SendManyOptions]
    ) -> list[int]:
        """Send many messages in one statement. Options as in ``calls.send_many``."""
        return self._session.send_many(self._target(queue), bodies, **options)

    def send_stream(self, bodies: Iterable[Body], *, queue: str | None = None, **options: Unpack[StreamOptions]) -> int:
        """Send all bodies of an iterable. Options as in ``Session.send_stream``."""
        return self._session.send_stream(self._target(queue), bodies, **options)

    def send_copy(self, rows: Iterable[Any], *, queue: str | None = None, **options: Unpack[CopyOptions]) -> int:
        """Send all rows of an iterable by COPY. Options as in ``Session.send_copy``."""
        return self._session.send_copy(self._target(queue), rows, **options)

    def _target(self, queue: str | None) -> str:
        target = self.queue if queue is None else queue
        if target is None:
            raise BadArgument("this producer has no queue of its own", "Name one: send(body, queue=…).")
        return target


class Consumer:
    """Receives from one queue, by call or by listener."""

    def __init__(self, session: Receives, queue: str) -> None:
        self._session = session
        self.queue = queue
        self._closed = False
        self._listener: Callable[[Message], None] | None = None

    def receive(self, timeout: float | None = None) -> Message | None:
        """Return the next message; None after ``timeout`` seconds (None: no limit) or once it or its session closes."""
        if self._listener is not None:
            raise IllegalState("a consumer with a listener cannot be asked to receive")
        messages = self._session.receive_until(self.queue, 1, timeout, lambda: self._closed)
        return messages[0] if messages else None

    def receive_nowait(self) -> Message | None:
        """Return the next message if there is one now, else None."""
        return self.receive(timeout=0)

    def listen(self, function: Callable[[Message], None] | None) -> None:
        """Call a function with each message, beside the caller; None ends that. The listener takes the session over."""
        if self._closed and function is not None:
            raise IllegalState("the consumer is closed")
        self._session.listen(self.queue, function, consumer=self)
        self._listener = function

    @property
    def listener(self) -> Callable[[Message], None] | None:
        """The function called with each message."""
        return self._listener

    @listener.setter
    def listener(self, function: Callable[[Message], None] | None) -> None:
        self.listen(function)

    def __iter__(self) -> Iterator[Message]:
        """Yield messages until the session or consumer is closed."""
        while (message := self.receive()) is not None:
            yield message

    def close(self) -> None:
        """Stop receiving after the message that a listener has in hand. The session's transaction is not touched."""
        self._closed = True
        self._session.wake()
        if self._listener is not None and not self._session.closed:
            self.listen(None)


class Browser:
    """Looks at a queue's ready messages, page by page, without disturbing anyone."""

    def __init__(self, session: Browses, queue: str, page: int = 100, **which: Unpack[BrowserOptions]) -> None:
        """which: selector or correlation_id, as in ``calls.browse``; after: priority and position to start behind."""
        self._session = session
        self._page = page
        self._after: Message | tuple[int, int] | None = which.pop("after", None)
        self._which: BrowseOptions = which
        self.queue = queue

    def __iter__(self) -> Iterator[Message]:
        after = self._after
        while page := self._session.browse(self.queue, self._page, after=after, **self._which):
            yield from page
            after = page[-1]
