"""The transactions of a worker's connection: batch after batch, one round trip each.

The commit of a batch also begins the next transaction and receives the next messages: four statements go together.
The server receives while the journal of the commit is being written. Nothing is received ahead of a commit, so messages
come in their order, and a failed commit lets nothing go.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from uuid import UUID

import psycopg

from ..engine import Message, calls
from ..engine.database.reliability import SET
from ..engine.errors import translate
from .guard import HandlerConnection

# The savepoint stands between the receive and the handlers, so a failed statement of theirs undoes only their work.
# Without it, PostgreSQL would let the messages go at once, before the failure is recorded.
SAVE = b"savepoint howdah_handler"
# One round trip for each message, where psycopg's nested transactions need two.
SAVE_NEXT = b"release savepoint howdah_handler; savepoint howdah_handler"
UNDO = b"rollback to savepoint howdah_handler"
DONE = b"release savepoint howdah_handler"


class Burst:
    """Receives a queue's messages batch by batch, inside one block of ``transaction()``."""

    #: The attempt that was recorded for the last receive from a hardened queue.
    attempt_id: UUID | None = None

    def __init__(
        self, connection: HandlerConnection, queue: str, consumer: int | None = None, listener: str | None = None
    ) -> None:
        """listener: the listener to receive through."""
        self._connection = connection
        self._queue = queue
        self._consumer = consumer
        self._listener = listener
        # The connection's own cursors are for handlers and refuse to commit, so these are the driver's.
        self._committing, self._cursor = psycopg.Cursor(connection), psycopg.Cursor(connection)
        self._receiving = psycopg.Cursor(connection)
        #: Whether the last ``receive`` committed the batch before, whatever else became of it.
        self.committed = False

    def transaction(self) -> AbstractContextManager[object]:
        """The block that surrounds the burst."""
        return self._connection.block()

    def _commit(self) -> None:
        """Send the fence, if there is one, and COMMIT. It runs inside a pipeline."""
        if self._connection.fence is not None:
            self._cursor.execute(self._connection.fence, prepare=False)
        self._committing.execute(b"commit", prepare=False)

    def _begin(self) -> None:
        self._cursor.execute(b"begin", prepare=False)
        if self._connection.commits_by_reliability:
            self._cursor.execute(SET, prepare=False)
        if self._connection.fence is not None:  # no handler begins in vain
            self._cursor.execute(self._connection.fence, prepare=False)

    def receive(self, batch: int, *, commit: bool) -> list[Message]:
        """Return up to ``batch`` messages. With ``commit``, commit first and receive in a new transaction.

        Raises the driver's error if committing failed, else Howdah's.
        """
        call = calls.receive(self._queue, batch, consumer=self._consumer, listener=self._listener)
        if call.setup is not None:
            call.setup(self._receiving)
        self.committed = False
        try:
            with self._connection.pipeline():
                if commit:
                    self._commit()
                    self._begin()
                self._receiving.execute(call.sql, call.arguments)
                self._cursor.execute(SAVE, prepare=False)
        except psycopg.Error as error:
            self.committed = commit and self._committing.statusmessage == "COMMIT"
            if commit and not self.committed:
                raise
            raise translate(error) or error from error
        self.committed = commit
        self._connection.watch()
        return call.decode(self._receiving.fetchall())
