"""Howdah's exceptions in place of the driver's, chosen by SQLSTATE."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from .base import HowdahError
from .classes import BadArgument, NotAllowed
from .connections import CHECK_DSN, CannotConnect, ConnectionLost, NotMigrated


def _subclasses(cls: type[HowdahError]) -> Iterator[type[HowdahError]]:
    yield cls
    for child in cls.__subclasses__():
        yield from _subclasses(child)


BY_SQLSTATE = {cls.sqlstate: cls for cls in _subclasses(HowdahError) if cls.sqlstate is not None}

# Our statements name only our own objects: a missing one means that Howdah is missing or of another version.
_NOT_MIGRATED = {"3F000", "42883", "42P01", "42703", "42704"}
#: The last two are timeouts of a transaction, idle or not, by which the server ends the session.
_CONNECTION = ("08", "57P0", "25P03", "25P04")
#: Classes of errors in a statement's data: values out of range, broken text, JSON nested too deep.
_BAD_VALUE = ("22", "54")


def translate(error: psycopg.Error) -> HowdahError | None:
    """Howdah's exception for an error of one of its own statements, or None if it is not ours to translate."""
    diagnosis = error.diag
    state = error.sqlstate
    text = diagnosis.message_primary or str(error).strip()
    if state in BY_SQLSTATE:
        return BY_SQLSTATE[state](text, diagnosis.message_hint)
    if is_lost(error):
        return ConnectionLost(text)
    if state == "42501":
        return NotAllowed(
            text,
            "An administrator grants the role that this needs: howdah_producer to send, howdah_consumer to receive,"
            " howdah_admin to manage, e.g.: GRANT howdah_producer TO your_role.",
        )
    if state in _NOT_MIGRATED:
        return NotMigrated(f"this database has no Howdah that fits: {text}", "Run howdah migrate.")
    if (state or "").startswith(_BAD_VALUE):
        return BadArgument(text)
    if state is None and isinstance(error, psycopg.DataError | psycopg.ProgrammingError):
        return BadArgument(text)
    return None


def is_lost(error: psycopg.Error) -> bool:
    """Whether the error means a lost connection: class 08, shutdown, a timeout that ends it, or no SQLSTATE."""
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate.startswith(_CONNECTION)


@contextmanager
def translated() -> Iterator[None]:
    """Raise Howdah's exception in place of the driver's, which stays as the cause. For Howdah's own statements."""
    try:
        yield
    except psycopg.Error as error:
        ours = translate(error)
        if ours is None:
            raise
        raise ours from error
    except UnicodeEncodeError as error:
        raise BadArgument(f"text that the database cannot store: {error}") from error


@contextmanager
def lost_translated() -> Iterator[None]:
    """Raise ConnectionLost in place of the driver's error. For COMMIT and ROLLBACK: they run application triggers."""
    try:
        yield
    except psycopg.Error as error:
        if is_lost(error):
            raise ConnectionLost(str(error).strip()) from error
        raise


def cannot_connect(error: Exception) -> CannotConnect:
    """Howdah's exception for a server that does not answer."""
    return CannotConnect(f"cannot connect: {str(error).strip()}", CHECK_DSN)
