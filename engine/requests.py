"""Requests and their answers: many at once on one temporary queue, told apart by correlation id."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, Unpack

import psycopg

from . import calls
from .calls import temporary
from .calls.bodies import Body
from .calls.message import Message
from .calls.options import RequestOptions
from .database.threads import Background
from .database.waiting import Idle, limit_of
from .errors import BadArgument, ConnectionLost, HowdahError, IllegalState, NoReply
from .sessions.session import Session

if TYPE_CHECKING:
    from .connection import Connection

F = TypeVar("F")

#: Answers taken at once.
BATCH = 100


class Outstanding(Generic[F]):
    """The requests without an answer yet, by correlation id. Threads and asyncio share it."""

    def __init__(self) -> None:
        self._waiting: dict[str, F] = {}
        self._lock = threading.Lock()
        #: Answers that nobody waited for any more.
        self.late = 0

    def add(self, correlation_id: str, waiting: F) -> None:
        """Note a request. Raises BadArgument if one with that correlation id has no answer yet."""
        with self._lock:
            if self._waiting.setdefault(correlation_id, waiting) is not waiting:
                raise BadArgument(f"a request {correlation_id} is waiting for its answer already")

    def take(self, correlation_id: str | None) -> F | None:
        """Return the waiting requester of an answer, once. None: nobody waits, or nobody any more."""
        with self._lock:
            found = self._waiting.pop(correlation_id or "", None)
            self.late += found is None
            return found

    def forget(self, correlation_id: str) -> None:
        """Note that the requester has given up: its answer will be late."""
        with self._lock:
            self._waiting.pop(correlation_id, None)

    def take_all(self) -> list[F]:
        """Return all who wait, and forget them."""
        with self._lock:
            waiting, self._waiting = list(self._waiting.values()), {}
            return waiting

    def __len__(self) -> int:
        return len(self._waiting)


class Requestor:
    """Sends requests and returns their answers, for any number of threads at once.

    It has a temporary queue, and a thread that receives from it on its own pooled connection. A topic is asked
    like a queue: the first answer counts.
    """

    def __init__(self, connection: Connection, queue: str | None = None) -> None:
        self._connection = connection
        self.queue = queue
        self._outstanding: Outstanding[Future[Message]] = Outstanding()
        self._lock = threading.Lock()
        self._inbox: _Inbox | None = None
        self._closed = False

    def request(
        self,
        body: Body,
        timeout: float | None = 30,
        *,
        queue: str | None = None,
        correlation_id: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> Message:
        """Send a request and wait for its answer. Options as in ``calls.send``.

        Raises NoReply after ``timeout`` seconds (None: no limit); an answer that comes later is dropped.
        """
        limit = limit_of(timeout)
        correlation_id, future = self._submit(body, queue, correlation_id, options)
        try:
            return future.result(limit)
        except FutureTimeout as error:
            raise NoReply(f"no answer within {timeout} seconds") from error
        finally:
            self._outstanding.forget(correlation_id)

    def submit(
        self,
        body: Body,
        *,
        queue: str | None = None,
        correlation_id: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> Future[Message]:
        """Send a request. The future gets the answer whenever it comes."""
        return self._submit(body, queue, correlation_id, options)[1]

    @property
    def reply_to(self) -> str:
        """The name of the temporary queue."""
        return self._open().queue

    @property
    def late(self) -> int:
        """Number of answers that came after nobody waited for them any more."""
        return self._outstanding.late

    def _submit(
        self, body: Body, queue: str | None, correlation_id: str | None, options: RequestOptions
    ) -> tuple[str, Future[Message]]:
        target = self.queue if queue is None else queue
        if target is None:
            raise BadArgument("this requestor has no queue of its own", "Name one: request(body, queue=…).")
        correlation_id = correlation_id or uuid.uuid4().hex
        future: Future[Message] = Future()
        inbox = self._open()
        self._outstanding.add(correlation_id, future)
        try:
            self._connection.send(target, body, correlation_id=correlation_id, reply_to=inbox.queue, **options)
            inbox.hurry()
            if inbox.ended:  # before it could know of this request
                self._lost(ConnectionLost("the connection that waits for answers was lost"))
        except BaseException:
            self._outstanding.forget(correlation_id)
            raise
        return correlation_id, future

    def _open(self) -> _Inbox:
        with self._lock:
            if self._closed:
                raise IllegalState("the requestor is closed")
            if self._inbox is None or self._inbox.ended:
                self._inbox = _Inbox(self._connection, self._answered, self._lost)
                self._inbox.start()
            return self._inbox

    def _answered(self, message: Message) -> None:
        future = self._outstanding.take(message.correlation_id)
        if future is not None and future.set_running_or_notify_cancel():
            future.set_result(message)

    def _lost(self, error: BaseException) -> None:
        for future in self._outstanding.take_all():
            if future.set_running_or_notify_cancel():
                future.set_exception(error)

    def close(self) -> None:
        """Drop the temporary queue. Waiting callers get IllegalState. A second call does nothing."""
        with self._lock:
            self._closed = True
            inbox, self._inbox = self._inbox, None
        if inbox is not None:
            inbox.stop()
            inbox.join()
        self._lost(IllegalState("the requestor was closed"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _Inbox(Background):
    """Receives from one temporary queue until it is stopped, or its connection is lost."""

    def __init__(
        self, connection: Connection, answered: Callable[[Message], None], lost: Callable[[BaseException], None]
    ) -> None:
        super().__init__("howdah-requestor", self._receive)
        self._answered = answered
        self._lost = lost
        self._stopping = False
        #: Whether it has ended: requesters that begin to wait now hear nothing of it.
        self.ended = False
        self._hurry = False
        self._session = connection.session(transacted=False)
        #: The name to give in each transaction behind a pooler. None: the database session itself is the connection.
        self._token: str | None = None
        try:
            backend = self._session.call(temporary.BACKEND)
            if not temporary.is_direct(self._session.connection, backend):
                self._session.close()
                self._session, self._token = connection.session(), uuid.uuid4().hex
            self.queue: str = self._call(temporary.create())
        except BaseException:
            self._session.close()
            raise

    def _call(self, call: calls.Call[Any]) -> Any:
        if self._token is None:
            return self._session.call(call)
        with self._session.transaction():
            self._session.call(temporary.set_connection(self._token, local=True))
            return self._session.call(call)

    def _receive(self) -> None:
        """Hand over the answers that come."""
        error: BaseException = ConnectionLost("the connection that waits for answers was lost")
        try:
            with self._session.idle() as idle:
                while not self._stopping:
                    messages = self._look(self._session, idle)
                    for message in messages:
                        self._answered(message)
                    if not messages and (pause := idle.pause()) is not None:
                        self._session.sleep(pause)
                        if self._hurry:
                            self._hurry = False
                            idle.reset()
        except (HowdahError, psycopg.Error) as caught:
            error = caught
        finally:
            self.ended = True
            if not self._stopping:
                self._lost(error)
            with suppress(HowdahError, psycopg.Error):
                self._call(temporary.close())
            self._session.close()

    def _look(self, session: Session, idle: Idle) -> list[Message]:
        if self._token is None:
            return session.look(self.queue, BATCH, idle)
        messages: list[Message] = self._call(calls.receive(self.queue, BATCH))
        if messages:
            idle.found()
        return messages

    def hurry(self) -> None:
        """Expect an answer. Behind a pooler nothing announces it, so look often for a while."""
        if self._token is not None:
            self._hurry = True
            self._session.wake()

    def stop(self) -> None:
        """End at once."""
        self._stopping = True
        self._session.wake()
