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

# Between what was received and what handlers do: a statement of theirs that fails then undoes no more than their work.
# Without a savepoint PostgreSQL would let the messages go at once, before the failure is recorded.
SAVE = b"savepoint howdah_handler"
# One round trip for each message, where psycopg's nested transactions need two.
SAVE_NEXT = b"release savepoint howdah_handler; savepoint howdah_handler"
UNDO = b"rollback to savepoint howdah_handler"
DONE = b"release savepoint howdah_handler"


class Burst:
    """Receives a queue's messages batch by batch, inside one block of ``transaction()``."""

    #: Of a hardened queue: the attempt that was put on record for what was received last.
    attempt_id: UUID | None = None

    def __init__(
        self, connection: HandlerConnection, queue: str, consumer: int | None = None, listener: str | None = None
    ) -> None:
        """listener: the one that the queue is received through."""
        self._connection = connection
        self._queue = queue
        self._consumer = consumer
        self._listener = listener
        # Of the driver's kind and not of the connection's, which is for handlers and refuses to commit.
        self._committing, self._cursor = psycopg.Cursor(connection), psycopg.Cursor(connection)
        self._receiving = psycopg.Cursor(connection)
        #: Whether the last ``receive`` committed the batch before, whatever else became of it.
        self.committed = False

    def transaction(self) -> AbstractContextManager[object]:
        """The block that the burst lies in."""
        return self._connection.block()

    def _commit(self) -> None:
        """Inside a pipeline: the fence, if there is one, and COMMIT."""
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
        """Up to ``batch`` messages; with ``commit`` in a new transaction, after the end of this one.

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
