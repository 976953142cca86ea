"""Best-effort messages: they are consumed before their handler runs, so a call that fails loses its message.

A batch of them is committed as it is received. Then each is handled in a transaction of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import psycopg

from ..engine import HowdahError, Message, is_innocent
from ..engine.calls.message import BEST_EFFORT
from ..engine.errors import ConnectionLost
from . import events
from .batch_mode import Blamed, Done
from .calling import Calling
from .guard import HandlerConnection
from .transaction import Transaction


def handed_over(messages: Sequence[Message]) -> list[Message]:
    """Return the messages that are consumed when they are handed over."""
    return [message for message in messages if message.reliability == BEST_EFFORT]


class Handover:
    """Handles one queue's messages whose consumption is committed."""

    def __init__(
        self,
        calling: Calling,
        handle: Callable[[Message, Transaction], None],
        count: Callable[[Blamed], object],
        worker: str,
    ) -> None:
        """count: puts a failure on record, for a message that nobody holds any more."""
        self._calling = calling
        self._handle = handle
        self._count = count
        self._worker = worker

    def run(self, connection: HandlerConnection, messages: Sequence[Message], done: Done) -> None:
        """Handle each message once. Every failure is recorded, even an innocent one: nothing else tells of the loss."""
        self._calling.attempt_id = None  # of a hardened queue: it was taken, and is forgotten
        for place, message in enumerate(messages):
            started = time.monotonic()
            try:
                if connection.closed:
                    raise ConnectionLost("the connection was lost before the handler was called")
                connection.watch()
                with connection.block():
                    self._handle(message, Transaction(connection, self._worker))
            except Blamed as blamed:
                lost = blamed
            except Exception as error:  # noqa: BLE001 - it cannot come again, whatever was wrong
                self._calling.take(message, started)
                lost = Blamed(message, self._calling.failure(message, error, started))
            else:
                done.handled += 1
                continue
            done.failed += 1
            try:
                self._count(lost)
            except (HowdahError, psycopg.Error) as error:  # said by the recorder; the others can be handled only now
                rest = [other.message_id for other in messages[place + 1 :]]
                self._calling.leave()
                if rest and connection.closed and is_innocent(error):  # they can be neither handled nor recorded
                    events.failures_lost(self._worker, message.queue, rest, error)
                    raise
