"""The thread of a session with an acknowledge mode whose consumers have listeners: one message at a time."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from ..database.waiting import PAUSE_MIN, Idle
from ..handling.functions import check_ran
from ..sessions.dispatch import PAUSE_MAX_FAILING
from .holding import Delivery
from .modes import AckMode

if TYPE_CHECKING:
    from .consumer import AckConsumer
    from .session import AckSession

log = logging.getLogger("howdah.listener")


class AckDispatcher(threading.Thread):
    """Delivers to the listeners in turn, and sees to it that what follows is as the session's mode has it."""

    def __init__(self, session: AckSession) -> None:
        super().__init__(name="howdah-ack-session", daemon=True)
        self._session = session
        self._stopping = threading.Event()
        self._delivering = threading.Lock()

    def stop(self) -> None:
        """End after the message in hand; the session is closed then."""
        self._stopping.set()
        self._session.wake()

    def changed(self) -> None:
        """A listener came, or went: wait for its message in hand."""
        self._session.wake()
        if self is not threading.current_thread():
            with self._delivering:
                pass

    def run(self) -> None:
        """Until stopped: one pass over the listeners, then a pause if none had a message."""
        failing_pause = PAUSE_MIN
        with self._session.idle() as idle:
            while not self._stopping.is_set():
                busy = failing = False
                for consumer in self._session.listening:
                    try:
                        busy = self._deliver_one(consumer, idle) or busy
                    except Exception as error:  # noqa: BLE001 - the thread must live on
                        failing = True
                        log.warning("listener of %s goes on after %s: %s", consumer.queue, type(error).__name__, error)
                    if self._stopping.is_set():
                        break
                failing_pause = min(failing_pause * 2, PAUSE_MAX_FAILING) if failing else PAUSE_MIN
                if failing and not busy:
                    self._stopping.wait(failing_pause)
                elif not busy:
                    self._session.sleep(idle.pause() or 0)
        self._session.finish()

    def _deliver_one(self, consumer: AckConsumer, idle: Idle) -> bool:
        """Deliver a message if there is one. Raises what is not the message's fault."""
        with self._delivering:
            listener = consumer.listener
            message = consumer.look(idle) if listener is not None else None
            if listener is None or message is None:
                return False
            with self._session.lock:
                consumer.deliver(message)
            try:
                check_ran(listener(message))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a listener may raise anything
                self._failed(consumer, message, error)
            else:
                with self._session.lock:
                    consumer.handled(message)
            return True

    def _failed(self, consumer: AckConsumer, message: Delivery, error: BaseException) -> None:
        """AUTO and DUPS_OK: the message again, at once. Else the next one: the client has not acknowledged this, and may yet."""
        if self._session.mode not in (AckMode.AUTO, AckMode.DUPS_OK):
            log.warning("listener of %s: %s: %s", consumer.queue, type(error).__name__, error)
            return
        with self._session.lock:
            self._session.acknowledger.redeliver([message], type(error).__name__, str(error))
