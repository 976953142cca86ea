# Written by tools/make_sync.py from engine/aio/dispatch.py: change that, and run make sync.
"""Runs the listeners of a session beside it: one message at a time, whatever the number of listeners."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar

import psycopg

from .. import calls
from ..calls import Call
from ..calls.message import BEST_EFFORT, Message
from ..database.threads import Background, Flag, Lock, is_cancelled
from ..database.waiting import PAUSE_MIN, Idle
from ..errors import RAISED, HowdahError, TransactionRolledBack, as_exception
from ..handling.failure import failure_of, is_blamed
from ..handling.functions import check_ran
from ..handling.outcomes import Rules
from ..tracing.points import processing

log = logging.getLogger("howdah.listener")

Listener = Callable[[Message], Any]
T = TypeVar("T")
K = TypeVar("K")

#: Pauses after errors: asking often does not bring a lost server back sooner.
PAUSE_MAX_FAILING = 5.0
RENEW_TIMEOUT = 2.0


class Listening(Protocol):
    """A session, as its dispatcher knows it."""

    def idle(self) -> Idle:
        """Return the session's wait."""

    def wake(self) -> None:
        """Make a waiting caller look again at once."""

    def sleep(self, seconds: float) -> None:
        """Wait until that time, or until somebody calls ``wake``."""

    def finish(self) -> None:
        """End the session once no listener runs any more."""


class Listeners(Protocol[K]):
    """The listeners of a session, and what is done with a message for one of them."""

    def places(self) -> Iterable[K]:
        """Return the places that have a listener now."""

    def deliver(self, place: K, idle: Idle) -> bool:
        """Deliver a message if there is one. Raises errors that are not the message's fault."""

    def recover(self, place: K, error: Exception) -> None:
        """Report such an error, and make the next pass start afresh."""


class Dispatcher(Background, Generic[K]):
    """Looks in turn at all places that have a listener until it is stopped, and then finishes the session."""

    def __init__(self, name: str, session: Listening, listeners: Listeners[K]) -> None:
        super().__init__(name, self._loop)
        self._session = session
        self._listeners = listeners
        self._stopping = Flag()
        self._delivering = Lock()

    def changed(self) -> None:
        """Wait for the message in hand of a removed listener."""
        if not self.is_current():
            with self._delivering:
                pass

    def end(self) -> bool:
        """End after the message in hand and wait for that. False for a listener that ends its own session."""
        if not self.is_alive():
            return True
        self._stopping.set()
        self._session.wake()
        if self.is_current():
            return False
        self.join()
        return True

    def _loop(self) -> None:
        """Until stopped, pass over the listeners, and pause if none had a message."""
        idle = self._session.idle()
        failing_pause = PAUSE_MIN
        try:
            while not self._stopping.is_set():
                busy = failing = False
                for place in list(self._listeners.places()):
                    try:
                        with self._delivering:
                            busy = self._listeners.deliver(place, idle) or busy
                    except Exception as error:  # noqa: BLE001 - it must go on for the others
                        failing = True
                        self._listeners.recover(place, error)
                    if self._stopping.is_set():
                        return
                failing_pause = min(failing_pause * 2, PAUSE_MAX_FAILING) if failing else PAUSE_MIN
                if failing and not busy:
                    self._stopping.wait(failing_pause)
                elif not busy:
                    self._session.sleep(idle.pause() or 0)
        finally:
            idle.reset()
            self._session.finish()


class Transacted(Protocol):
    """A session that delivers messages in its transactions."""

    #: How its transaction ended first since somebody set this to None: whether it was committed.
    committed: bool | None

    @property
    def max_redeliveries(self) -> int | None:
        """The connection's limit of redeliveries."""

    def look(self, queue: str, max_messages: int, idle: Idle) -> list[Message]:
        """Receive messages that are there now."""

    def call(self, call: Call[T]) -> T:
        """Run a call in the session's transaction."""

    def commit(self) -> None:
        """Commit what was done."""

    def rollback(self) -> None:
        """Undo it."""

    def renew(self, timeout: float | None = None) -> None:
        """Replace a broken connection."""


class TransactedListeners:
    """Commits if a listener returns, else rolls back and records the failure outside."""

    def __init__(self, session: Transacted) -> None:
        self._session = session
        self._listeners: dict[object, tuple[str, Listener, Rules]] = {}

    def set(self, key: object, queue: str, listener: Listener | None, rules: Rules) -> None:
        """Add, replace or (None) remove a listener."""
        if listener is None:
            self._listeners.pop(key, None)
        else:
            self._listeners[key] = (queue, listener, rules)

    def places(self) -> Iterable[object]:
        """Return the keys of the listeners."""
        return list(self._listeners)

    def deliver(self, place: object, idle: Idle) -> bool:
        """Deliver a message if there is one. Raises errors that are not the message's fault."""
        queue, listener, rules = self._listeners.get(place, ("", None, None))
        if listener is None:
            return False
        messages = self._session.look(queue, 1, idle)
        if not messages:
            return False
        if messages[0].reliability == BEST_EFFORT:
            self._session.commit()  # consumed when it is handed over: a failure loses it
        with processing(messages[0], queue) as process:
            self._session.committed = None
            try:
                check_ran(listener(messages[0]))
                if self._session.committed is False:
                    raise TransactionRolledBack("the transaction that received the message was rolled back meanwhile")
                self._session.commit()
            except RAISED as error:
                # Whatever a listener raises is a failed delivery, and so is a commit refused by a deferred constraint.
                if is_cancelled(error):
                    raise
                if not is_blamed(error):
                    if isinstance(error, Exception):
                        raise
                    raise as_exception(error) from error
                process.failed(error)
                self._session.rollback()
                failure = failure_of(messages[0], error, rules, self._session.max_redeliveries)
                self._session.call(calls.record_failures(queue, [failure]))
                self._session.commit()
        return True

    def recover(self, place: object, error: Exception) -> None:
        """Roll back, and replace a lost connection."""
        queue = self._listeners.get(place, ("?",))[0]
        log.warning("listener of %s goes on after %s: %s", queue, type(error).__name__, error)
        with suppress(HowdahError, psycopg.Error):
            self._session.rollback()
        with suppress(HowdahError, psycopg.Error):
            self._session.renew(RENEW_TIMEOUT)
