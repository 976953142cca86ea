"""What a connection sends without waiting for the database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import Future
from contextlib import suppress
from typing import Unpack
from weakref import WeakSet

from .. import calls
from ..calls.bodies import Body
from ..calls.levels import LevelMapping
from ..calls.options import SendOptions
from ..database.loans import Loans
from ..tracing.points import carrying
from .sender import Sender
from .windowed import WINDOW_DEFAULT, OnComplete, WindowedProducer


class SendsAhead(ABC):
    """Sends on connections of its own, one message a transaction."""

    def __init__(self, loans: Loans, levels: LevelMapping) -> None:
        self._loans = loans
        #: The levels of reliability that delivery modes stand for.
        self.levels = levels
        self._sender = Sender(loans)
        self._producers: WeakSet[WindowedProducer] = WeakSet()

    @abstractmethod
    def _check_open(self) -> None:
        """Raises IllegalState if it is closed."""

    def send_async(self, queue: str, body: Body, **options: Unpack[SendOptions]) -> Future[int]:
        """Send one message without waiting for the database. The future gets its number or the error.

        Messages go in the order of these calls, each in a transaction of its own. ``close`` sends what is left. If
        the process dies, what it has not sent is lost. So look at the future where a message must not be lost.
        """
        wanted = self.levels.applied(queue, carrying(options))
        return self._sender.submit(lambda: calls.send(queue, body, **wanted))

    def windowed_producer(
        self,
        queue: str | None = None,
        *,
        window_bytes: int | None = None,
        asynchronous: bool | None = None,
        on_complete: OnComplete | None = None,
    ) -> WindowedProducer:
        """Return a producer that sends each message on its own connection, without waiting where it may.

        - asynchronous: None waits for all but non-persistent messages, True for no message (useAsyncSend), False for
          every message.
        - window_bytes: how many bytes may be unconfirmed before a send waits (producerWindowSize). None: the factory's,
          else 1 MiB.
        - on_complete: called with a message and its number or error, in order, on the producer's thread.

        Raises BadArgument.
        """
        self._check_open()
        window = self.levels.window_bytes if window_bytes is None else window_bytes
        producer = WindowedProducer(
            self._loans,
            queue,
            window_bytes=WINDOW_DEFAULT if window is None else window,
            asynchronous=self.levels.asynchronous if asynchronous is None else asynchronous,
            on_complete=on_complete,
            levels=self.levels,
        )
        self._producers.add(producer)
        return producer

    def _send_the_rest(self) -> None:
        """Send what is left, and end."""
        for producer in list(self._producers):
            with suppress(Exception):  # the futures have the errors
                producer.close()
        self._sender.close()
