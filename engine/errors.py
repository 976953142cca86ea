"""Howdah's exceptions, found by SQLSTATE and never by text.

The first sentence of each class's docstring says what happened; the message is the database's own, with its hint. The
driver's error is the ``__cause__``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg


class HowdahError(Exception):
    """Something that Howdah refused or could not do."""

    sqlstate: str | None = None

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class NoSuchQueue(HowdahError, LookupError):
    """There is no queue of that name, or a message has none to go back to."""

    sqlstate = "HD001"


class QueueExists(HowdahError):
    """A queue of that name exists already."""

    sqlstate = "HD002"


class BadName(HowdahError, ValueError):
    """That cannot be the name of a queue or listener."""

    sqlstate = "HD003"


class BadOption(HowdahError, ValueError):
    """An option of a queue or listener is unknown or has a wrong value."""

    sqlstate = "HD004"


class BadArgument(HowdahError, ValueError):
    """An argument is missing, of the wrong kind or out of bounds."""

    sqlstate = "HD005"


class BadPriority(HowdahError, ValueError):
    """A priority is not 0 to 9."""

    sqlstate = "HD006"


class BodyTooLarge(HowdahError, ValueError):
    """A body is larger than the queue takes."""

    sqlstate = "HD007"


class QueuePaused(HowdahError):
    """Sending to the queue or receiving from it is paused."""


class SendingPaused(QueuePaused):
    """Sending to the queue is paused."""

    sqlstate = "HD008"


class ReceivingPaused(QueuePaused):
    """Receiving from the queue is paused."""

    sqlstate = "HD009"


class NotAllowed(HowdahError, PermissionError):
    """The caller has no right to do that."""

    sqlstate = "HD010"

    def __str__(self) -> str:
        return HowdahError.__str__(self)


class QueueNotEmpty(HowdahError):
    """A queue that holds messages is dropped only by force."""

    sqlstate = "HD011"


class SystemQueue(HowdahError):
    """The queue belongs to the engine and can be neither changed nor dropped."""

    sqlstate = "HD012"


class NoSuchMessage(HowdahError, LookupError):
    """The message is not in that queue, or is in somebody's hands."""

    sqlstate = "HD013"


class LockLost(HowdahError):
    """A lease expired or went to another holder."""

    sqlstate = "HD014"


class UnknownWorker(HowdahError):
    """The worker is not registered any more."""

    sqlstate = "HD015"


class QueueDisabled(QueuePaused):
    """Failures in a row disabled the queue."""

    sqlstate = "HD016"


class ConversationEnded(HowdahError):
    """The conversation was ended: no message can be sent in it."""

    sqlstate = "HD017"


class ResourceAllocation(HowdahError):
    """The whole engine has no room for more: nothing is sent, no queue or topic made."""

    sqlstate = "HD027"


class QueueFull(ResourceAllocation):
    """The queue has no room for more messages, or bytes."""

    sqlstate = "HD018"


class AttemptNeeded(HowdahError):
    """The queue is hardened: an attempt is committed before its message is received."""

    sqlstate = "HD019"


class NoSuchListener(HowdahError, LookupError):
    """There is no listener of that name."""

    sqlstate = "HD020"


class ListenerExists(HowdahError):
    """A listener of that name exists already, or belongs to another queue."""

    sqlstate = "HD021"


class NoSuchAttempt(HowdahError, LookupError):
    """There is no such attempt, it is not committed yet, or a failure was told of a message without one."""

    sqlstate = "HD022"


class InvalidSelector(HowdahError, ValueError):
    """A message selector breaks the grammar; the message says at which character."""

    sqlstate = "HD023"


class SubscriptionInUse(HowdahError):
    """Somebody else reads the subscription, or it exists and cannot be changed so."""

    sqlstate = "HD024"


class RestoredDatabase(HowdahError):
    """The database was restored into another cluster: its topics wait for ``rebase_topics``."""

    sqlstate = "HD025"


class LeaseLost(HowdahError):
    """The lease has not, or no longer, one of these messages: others may have received it."""

    sqlstate = "HD026"


class QueueInUse(HowdahError):
    """The temporary queue has an active consumer."""

    sqlstate = "HD030"


class NoReply(HowdahError, TimeoutError):
    """No answer to a request came in time."""

    def __str__(self) -> str:
        return HowdahError.__str__(self)


class NoSuchSchedule(HowdahError, LookupError):
    """There is no such schedule, or it is somebody else's."""

    sqlstate = "HD029"


class ConsumerNotOpen(HowdahError):
    """The queue tells its consumers apart, and none is open under this number (any more)."""

    sqlstate = "HD032"


class ConsumerRefused(HowdahError):
    """The queue takes a single consumer, and has one."""

    sqlstate = "HD033"


class JournalGone(HowdahError, LookupError):
    """Retention dropped rows of the journal that a reader of it had yet to read."""

    sqlstate = "HD036"


class ForeignOffset(HowdahError):
    """A reader's place in the journal does not belong to this server (another cluster, a standby, set back), or a standby has not all that was asked for."""

    sqlstate = "HD037"


class ClientIdInUse(HowdahError):
    """Another client has claimed the client id; JMS's InvalidClientIDException."""

    sqlstate = "HD038"


class NotMigrated(HowdahError):
    """The database has no Howdah in it, or one that does not fit this code."""


class CannotConnect(HowdahError, ConnectionError):
    """The database cannot be reached."""

    def __str__(self) -> str:
        return HowdahError.__str__(self)


CHECK_DSN = "Check --dsn or HOWDAH_DSN."


def cannot_connect(error: Exception) -> CannotConnect:
    """Howdah's exception for a server that does not answer."""
    return CannotConnect(f"cannot connect: {str(error).strip()}", CHECK_DSN)


class ConnectionLost(HowdahError, ConnectionError):
    """The connection to the database broke; whether a commit under way took place is not known."""

    def __str__(self) -> str:
        return HowdahError.__str__(self)


class TransactionRolledBack(HowdahError):
    """A commit was refused, and all that the transaction did is undone; the cause says why."""


class IllegalState(HowdahError, RuntimeError):
    """The object cannot do that now: it is closed, or the transaction is not its own."""


def _subclasses(cls: type[HowdahError]) -> Iterator[type[HowdahError]]:
    yield cls
    for child in cls.__subclasses__():
        yield from _subclasses(child)


BY_SQLSTATE = {cls.sqlstate: cls for cls in _subclasses(HowdahError) if cls.sqlstate is not None}

# Our statements name nothing but our own objects: what is missing is Howdah, or fits another version of it.
_NOT_MIGRATED = {"3F000", "42883", "42P01", "42703", "42704"}
#: The last two are time-outs of a transaction, idle or not, by which the server ends the session.
_CONNECTION = ("08", "57P0", "25P03", "25P04")
#: Serialization failure, deadlock, lock time-out.
_RETRIED = {"40001", "40P01", "55P03"}
#: What the server lacks (disk, memory, connections), its system's errors, its corrupted tables and indexes. Not XX000, which
#: extensions raise for wrong data, and not class 54, by which a statement is too large for any server.
_SERVERS = ("53", "58", "XX001", "XX002")
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
            text, "An administrator grants a role of Howdah to yours, e.g.: GRANT howdah_consumer TO your_role."
        )
    if state in _NOT_MIGRATED:
        return NotMigrated(f"this database has no Howdah that fits: {text}", "Run howdah migrate.")
    if (state or "").startswith(_BAD_VALUE):
        return BadArgument(text)
    if state is None and isinstance(error, psycopg.DataError | psycopg.ProgrammingError):
        return BadArgument(text)
    return None


def is_lost(error: psycopg.Error) -> bool:
    """Whether the error means that the connection is gone: class 08, shutdown, a time-out that ends it, or no SQLSTATE."""
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
    """Raise ConnectionLost in place of the driver's error. For COMMIT and ROLLBACK, which run the application's triggers."""
    try:
        yield
    except psycopg.Error as error:
        if is_lost(error):
            raise ConnectionLost(str(error).strip()) from error
        raise


def is_innocent(error: BaseException) -> bool:
    """Whether an error says nothing against the message that was being handled.

    Serialization failures, deadlocks, lock time-outs, lost connections and shutdowns (SQLSTATE 40001, 40P01, 55P03,
    57P0x, class 08) are retried without an incident, and so are sessions that the server ended for a time-out (25P03, 25P04),
    and what the server itself lacks or suffers from (is_servers).
    The whole chain of causes is looked at, since frameworks wrap; ``raise … from None`` cuts it. A group of errors, as of
    ``asyncio.TaskGroup``, is innocent if all of its errors are.
    """
    return _holds(error, _is_innocent_itself)


def is_servers(error: BaseException) -> bool:
    """Whether an error is the server's own: insufficient resources (class 53), its system's (58), corruption (XX001, XX002)."""
    return _holds(error, _is_servers_itself)


def blamed(error: BaseException) -> BaseException:
    """What to tell of an error: the first error of a group that is not innocent, else its first; the error itself of others."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    found = leaves(error)
    return next((each for each in found if not is_innocent(each)), found[0] if found else error)


def leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    """The errors in a group and in the groups in it, in their order."""
    found: list[BaseException] = []
    waiting: list[BaseException] = [group]
    seen: set[int] = set()
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, BaseExceptionGroup):
            waiting.extend(reversed(current.exceptions))
        else:
            found.append(current)
    return found


def _holds(
    error: BaseException, condition: Callable[[BaseException], bool], within: frozenset[int] = frozenset()
) -> bool:
    """Whether an error or one behind it meets a condition. A group does if each of its errors, or what is behind it, does.

    within: the groups that are being looked at, which may stand behind their own errors.
    """
    for current in chain(error):
        if isinstance(current, BaseExceptionGroup):
            if id(current) in within:
                return False
            found = leaves(current)
            if found and all(_holds(each, condition, within | {id(current)}) for each in found):
                return True
        elif condition(current):
            return True
    return False


def _is_innocent_itself(error: BaseException) -> bool:
    if isinstance(error, ConnectionLost | CannotConnect):
        return True
    if isinstance(error, psycopg.Error) and (error.sqlstate in _RETRIED or is_lost(error)):
        return True
    return _is_servers_itself(error)


def _is_servers_itself(error: BaseException) -> bool:
    return isinstance(error, psycopg.Error) and (error.sqlstate or "").startswith(_SERVERS)


def chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what is behind it: what SQLAlchemy wrapped, else its cause, else its context."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        original = getattr(current, "orig", None)
        if isinstance(original, BaseException):
            current = original
        else:
            current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
