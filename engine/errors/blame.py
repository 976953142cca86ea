"""Whether an error says anything against the message that was being handled."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Iterator

import psycopg

from .classes import EngineHalted, InstanceRefused
from .connections import CannotConnect, ConnectionLost
from .translation import is_lost

#: Serialization failure, deadlock, lock timeout, an engine that was paused meanwhile, an exclusive lease that went to
#: another instance.
_RETRIED = {"40001", "40P01", "55P03", EngineHalted.sqlstate, InstanceRefused.sqlstate}
#: What the server lacks (disk, memory, connections), errors of its system, corrupted tables and indexes. Not XX000,
#: which extensions raise for wrong data, and not class 54, by which a statement is too large for any server.
_SERVERS = ("53", "58", "XX001", "XX002")


def is_innocent(error: BaseException) -> bool:
    """Whether an error says nothing against the message that was being handled.

    Serialization failures, deadlocks, lock timeouts, lost connections and shutdowns (SQLSTATE 40001, 40P01, 55P03,
    57P0x, class 08) are retried without an incident. So are sessions that a timeout ended (25P03, 25P04), and what the
    server itself lacks or suffers from (is_servers). So are an engine that was paused meanwhile (HD040) and an instance
    that may not go on (HD046).
    The whole chain of causes counts, since frameworks wrap errors; ``raise … from None`` cuts it. A group, as of
    ``asyncio.TaskGroup``, is innocent if all of its errors are.
    """
    return _holds(error, _is_innocent_itself)


def is_servers(error: BaseException) -> bool:
    """Whether an error is the server's: lack of resources (class 53), its system (58), corruption (XX001, XX002)."""
    return _holds(error, _is_servers_itself)


RAISED = (Exception, SystemExit, CancelledError, BaseExceptionGroup)
"""What a listener may raise: everything except errors for the program, such as KeyboardInterrupt."""


def as_exception(error: BaseException) -> Exception:
    """Return an error in place of one that ``except Exception`` does not take: a session must outlive SystemExit."""
    return RuntimeError(f"{type(error).__name__} was raised")


def blamed(error: BaseException) -> BaseException:
    """Return the error to report. For a group, that is the first error that is not innocent, or else the first."""
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
    """Whether an error or one of its causes meets a condition. A group does if each of its errors or their causes do.

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
