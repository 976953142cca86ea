"""Send without waiting for each answer: a producer with a window, and the thread that sends for it."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Self, Unpack

import psycopg
from psycopg.types.json import Jsonb

from .. import calls
from ..calls import Call
from ..calls.bodies import Body
from ..calls.levels import LevelMapping
from ..calls.options import SendOptions
from ..database.loans import Loans, PgConnection
from ..database.runner import run
from ..database.threads import Background
from ..database.waiting import limit_of
from ..errors import BadArgument, CannotConnect, ConnectionLost, IllegalState, translated
from ..tracing.points import carrying

log = logging.getLogger("howdah.producer")

WINDOW_DEFAULT = 1 << 20
#: How many messages may be unconfirmed, whatever their size. The next send waits.
UNCONFIRMED_MAX = 10_000
#: Seconds without work after which its connection goes back to the pool.
IDLE_SECONDS = 1.0
#: The most messages that are committed together.
GROUP_MAX = 500


@dataclass(eq=False)
class Sent:
    """A message handed over, and its outcome: its number or the error."""

    queue: str
    body: Body
    options: SendOptions
    #: Bytes of the body.
    size: int
    call: Call[int] = field(repr=False)
    #: Whether the sender waits for it.
    awaited: bool = False
    message_id: int | None = None
    error: Exception | None = None
    future: Future[int] = field(repr=False, default_factory=Future)


OnComplete = Callable[[Sent], None]


class WindowedProducer:
    """Sends to one queue or, if made without one, to the queue named at each send. Any number of threads may use it.

    Non-persistent messages are sent without waiting for the database, persistent ones wait for their commit;
    ``asynchronous`` overrides both. What is sent without waiting goes in order, over one connection, as many messages
    in one transaction as are
    there. Once ``window_bytes`` of bodies are unconfirmed, the next send waits for answers; 0: there is no such limit.
    """

    def __init__(
        self,
        loans: Loans,
        queue: str | None,
        *,
        window_bytes: int,
        asynchronous: bool | None,
        on_complete: OnComplete | None,
        levels: LevelMapping,
    ) -> None:
        if window_bytes < 0 or (asynchronous and window_bytes == 0):
            raise BadArgument(
                f"window_bytes cannot be {window_bytes}" + (" with asynchronous" if window_bytes == 0 else ""),
                "Persistent messages that nobody waits for need a window, by which the producer hears of the backlog.",
            )
        self.queue = queue
        self.window_bytes = window_bytes
        self.asynchronous = asynchronous
        self._on_complete = on_complete
        self._levels = levels
        self._loans = loans
        self._connection: PgConnection | None = None
        self._changed = threading.Condition()
        self._waiting: deque[Sent] = deque()
        self._unconfirmed = 0
        self._bytes = 0
        self._failed: Exception | None = None
        self._background = Background("howdah-producer", self._run)
        self._closed = False

    @property
    def unconfirmed_bytes(self) -> int:
        """Bytes of bodies that are handed over but not yet confirmed."""
        return self._bytes

    def send(self, body: Body, *, queue: str | None = None, **options: Unpack[SendOptions]) -> Future[int]:
        """Send one message. The future gets its number or the error. Options as in ``calls.send``.

        A persistent one is stored when this returns, unless ``asynchronous``; its error is raised here.
        """
        target = self.queue if queue is None else queue
        if target is None:
            raise BadArgument("this producer has no queue of its own", "Name one: send(body, queue=…).")
        options = self._levels.applied(target, carrying(options))
        call = calls.send(target, body, **options)
        level = options.get("reliability") or options.get("delivery_mode")
        persistent = level is None or not level.endswith(("non-persistent", "NONPERSISTENT"))
        awaited = not (self.asynchronous or (self.asynchronous is None and not persistent))
        sent = Sent(target, body, options, _size(call.arguments[1]), call, awaited)
        sent.future.set_running_or_notify_cancel()  # a message that was handed over cannot be called back
        self._hand_over(sent)
        if awaited and not self._background.is_current():
            sent.future.result()
        return sent.future

    def _hand_over(self, sent: Sent) -> None:
        with self._changed:
            if not self._background.is_current():  # whose listener sends would wait for itself
                self._changed.wait_for(lambda: self._closed or self._has_room(sent.size))
            if self._closed:
                raise IllegalState("the producer is closed")
            self._background.start()
            self._waiting.append(sent)
            self._unconfirmed += 1
            self._bytes += sent.size
            self._changed.notify_all()

    def _has_room(self, size: int) -> bool:
        return self._unconfirmed == 0 or (
            self._unconfirmed < UNCONFIRMED_MAX and (self.window_bytes == 0 or self._bytes + size <= self.window_bytes)
        )

    def flush(self, timeout: float | None = None) -> None:
        """Wait until all is confirmed. Raises TimeoutError.

        Without a listener, raises the first error since the last flush.
        """
        if self._background.is_current():
            raise IllegalState("a completion listener cannot wait for its own producer")
        limit = limit_of(timeout)
        with self._changed:
            if not self._changed.wait_for(lambda: self._unconfirmed == 0, limit):
                raise TimeoutError(f"{self._unconfirmed} messages are not confirmed after {timeout} seconds")
            failed, self._failed = self._failed, None
        if failed is not None:
            raise failed

    def close(self) -> None:
        """Send what is left and give the connection back. Raises as ``flush``. A second call does nothing."""
        if self._background.is_current():
            raise IllegalState("a completion listener cannot close its own producer")
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._background.join()
        self.flush()

    def _run(self) -> None:
        try:
            while group := self._next():
                self._send(group)
                for sent in group:
                    self._confirm(sent)
        finally:
            if self._connection is not None:
                self._loans.give_back(self._connection)

    def _next(self) -> list[Sent]:
        """Return what to send together; empty once closed."""
        while not self._is_awake(IDLE_SECONDS if self._connection is not None else None):
            connection, self._connection = self._connection, None
            if connection is not None:
                self._loans.give_back(connection)
        with self._changed:
            return [self._waiting.popleft() for _ in range(min(len(self._waiting), GROUP_MAX))]

    def _is_awake(self, seconds: float | None) -> bool:
        """Wait until there is something to do, for at most this time (None: no limit)."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._waiting) or self._closed, seconds)

    def _send(self, group: list[Sent]) -> None:
        """Send messages in one transaction or, if one of them is refused, each in its own."""
        try:
            if self._connection is None or self._connection.closed:
                self._renew()
            assert self._connection is not None
            if len(group) > 1:
                _together(self._connection, group)
                return
        except Exception as error:  # noqa: BLE001 - each of them gets an error of its own
            if isinstance(error, ConnectionLost) or self._connection is None or self._connection.closed:
                if isinstance(error, CannotConnect):  # later senders would wait as long, and in vain
                    with self._changed:
                        group += self._waiting
                        self._waiting.clear()
                for sent in group:
                    sent.message_id, sent.error = None, error
                return
        for sent in group:
            try:
                sent.message_id = run(self._connection, sent.call)
            except Exception as error:  # noqa: BLE001 - whatever it is, whoever waits for this message gets it
                sent.error = error

    def _renew(self) -> None:
        lost, self._connection = self._connection, None
        if lost is not None:
            self._loans.give_back(lost)
        self._connection = self._loans.borrow(autocommit=True)

    def _confirm(self, sent: Sent) -> None:
        if sent.error is not None:
            sent.future.set_exception(sent.error)
        else:
            sent.future.set_result(sent.message_id or 0)
        if self._on_complete is not None:
            try:
                self._on_complete(sent)
            except Exception:
                log.exception("the completion listener failed")
        with self._changed:
            if sent.error is not None and not sent.awaited and self._on_complete is None and self._failed is None:
                self._failed = sent.error
            self._unconfirmed -= 1
            self._bytes -= sent.size
            self._changed.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _together(connection: PgConnection, group: list[Sent]) -> None:
    """Send in one transaction and one round trip. The numbers are known once it is committed."""
    with translated(), connection.pipeline(), connection.transaction():
        cursors = []
        for sent in group:
            cursor = psycopg.Cursor(connection, row_factory=psycopg.rows.tuple_row)
            cursors.append(cursor.execute(sent.call.sql, sent.call.arguments))
    for sent, cursor in zip(group, cursors, strict=True):
        sent.message_id = sent.call.decode(cursor.fetchall())


def _size(value: object) -> int:
    if value is None:
        return 0  # the server refuses it
    if isinstance(value, Jsonb):
        value = value.obj
    return len(value.encode(errors="replace")) if isinstance(value, str) else len(value)  # type: ignore[arg-type]
