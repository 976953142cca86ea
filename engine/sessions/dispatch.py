"""The thread of a session whose consumers have listeners: one message at a time, whatever the number of listeners."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg

from .. import calls
from ..calls.message import Message
from ..database.waiting import PAUSE_MIN, Idle
from ..errors import HowdahError
from ..handling.failure import failure_of, is_blamed
from ..handling.functions import check_ran
from ..handling.outcomes import Rules

if TYPE_CHECKING:
    from .session import Session

log = logging.getLogger("howdah.listener")

Listener = Callable[[Message], Any]

#: After errors: a lost server comes back no sooner for being asked often.
PAUSE_MAX_FAILING = 5.0
RENEW_TIMEOUT = 2.0


class Dispatcher(threading.Thread):
    """Receives for every listener in turn: commits if it returns, else rolls back and records the failure outside."""

    def __init__(self, session: Session) -> None:
        super().__init__(name="howdah-session", daemon=True)
        self._session = session
        self._listeners: dict[object, tuple[str, Listener, Rules]] = {}
        self._stopping = threading.Event()
        self._delivering = threading.Lock()

    def listen(self, key: object, queue: str, listener: Listener | None, rules: Rules) -> None:
        """Add, replace or (None) remove a listener; removing waits for its message in hand."""
        if listener is not None:
            self._listeners[key] = (queue, listener, rules)
            if not self.is_alive():
                self.start()
            return
        self._listeners.pop(key, None)
        if self is not threading.current_thread():
            with self._delivering:
                pass

    def stop(self) -> None:
        """End after the message in hand; the session is closed then."""
        self._stopping.set()
        self._session.wake()

    def run(self) -> None:
        """Until stopped: one pass over the listeners, then a pause if none had a message."""
        idle = self._session.idle()
        failing_pause = PAUSE_MIN
        try:
            while not self._stopping.is_set():
                busy = failing = False
                for key in list(self._listeners):
                    try:
                        busy = self._deliver_one(key, idle) or busy
                    except Exception as error:  # noqa: BLE001 - the thread must live on
                        failing = True
                        self._recover(key, error)
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

    def _deliver_one(self, key: object, idle: Idle) -> bool:
        """Deliver a message if there is one. Raises what is not the message's fault."""
        with self._delivering:
            queue, listener, rules = self._listeners.get(key, ("", None, None))
            if listener is None:
                return False
            messages = self._session.look(queue, 1, idle)
            if not messages:
                return False
            try:
                check_ran(listener(messages[0]))
                self._session.commit()
            except (Exception, SystemExit) as error:
                # Whatever a listener raises is a failed delivery, and so is a commit refused by a deferred constraint.
                if not is_blamed(error):
                    raise
                self._session.rollback()
                self._session.call(
                    calls.record_failures(
                        queue, [failure_of(messages[0], error, rules, self._session.max_redeliveries)]
                    )
                )
                self._session.commit()
            return True

    def _recover(self, key: object, error: Exception) -> None:
        """Roll back, and if the connection is gone get another, so that the next pass starts afresh."""
        log.warning(
            "listener of %s goes on after %s: %s", self._listeners.get(key, ("?",))[0], type(error).__name__, error
        )
        with suppress(HowdahError, psycopg.Error):
            self._session.rollback()
        with suppress(HowdahError, psycopg.Error):
            self._session.renew(RENEW_TIMEOUT)
