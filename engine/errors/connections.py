"""Exceptions without SQLSTATE: the client itself finds that a connection or object cannot do something."""

from __future__ import annotations

from .base import HowdahError


class NotMigrated(HowdahError):
    """Howdah is not installed in the database, or in a version that does not fit this code."""


class CannotConnect(HowdahError, ConnectionError):
    """The database cannot be reached."""


CHECK_DSN = "Check --dsn or HOWDAH_DSN."


class ConnectionLost(HowdahError, ConnectionError):
    """The connection to the database broke. Whether a running commit took place is not known."""


class TransactionRolledBack(HowdahError):
    """A commit was refused, and the whole transaction is undone. The cause says why."""


class IllegalState(HowdahError, RuntimeError):
    """The object cannot do that now: it is closed, or it does not own the transaction."""
