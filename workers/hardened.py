"""Receive from a hardened queue: the attempt is committed before the message is received, so every death counts."""

from __future__ import annotations

import psycopg

from ..engine import Message, calls
from ..engine.database.runner import run
from ..engine.errors import translate
from .burst import SAVE, Burst


class HardenedBurst(Burst):
    """One message a transaction, after a transaction for its attempt: two commits a message."""

    def receive(self, batch: int, *, commit: bool) -> list[Message]:
        """As Burst's, but at most one message."""
        self.committed = False
        if commit:
            with self._connection.pipeline():
                self._commit()
            self.committed = True
            self._begin()
        self.attempt_id = None
        # The handler's transaction may be another one by default; this one has to see what others have begun.
        self._cursor.execute(b"set transaction isolation level read committed", prepare=False)
        attempts = run(self._connection, calls.begin_attempts(self._queue, listener=self._listener))
        try:
            with self._connection.pipeline():
                self._commit()
            self._begin()
        except psycopg.Error as error:
            raise translate(error) or error from error
        messages: list[Message] = []
        if attempts:
            self.attempt_id = attempts[0].attempt_id
            taking = calls.receive_attempt(self._queue, self.attempt_id, listener=self._listener)
            messages = run(self._connection, taking)
        self._cursor.execute(SAVE, prepare=False)
        self._connection.watch()
        return messages
