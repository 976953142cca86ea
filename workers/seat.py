"""The place of a session among the consumers of a queue that tells its consumers apart."""

from __future__ import annotations

from typing import Any

import psycopg

from ..engine.calls import consumers
from ..engine.database.runner import run
from ..engine.errors import ConsumerRefused

TIMEOUT_SECONDS = 10.0
"""A session that is silent for so long, and in no transaction, is taken for gone. An idle one asks several times a second."""


class Seat:
    """The open consumer of one session for one queue; most queues need none."""

    def __init__(self, queue: str) -> None:
        self._queue = queue
        #: The consumer's number; None: none was needed yet.
        self.number: int | None = None

    def take(self, connection: psycopg.Connection[Any]) -> bool:
        """Open a consumer. False: the queue takes a single one, and has it.

        It does not live with the database session, which behind a pooler is not the worker's own.
        """
        try:
            with connection.transaction():
                self.number = run(connection, consumers.open_consumer(self._queue, timeout=TIMEOUT_SECONDS))
        except ConsumerRefused:
            self.number = None
        return self.number is not None

    def leave(self, connection: psycopg.Connection[Any]) -> None:
        """Close it, so that others need not wait for its time-out."""
        if self.number is not None and not connection.closed:
            with connection.transaction():
                run(connection, consumers.close_consumer(self.number))
        self.number = None
