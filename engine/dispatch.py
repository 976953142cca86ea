"""The thread of a session whose consumers have listeners: one message at a time, whatever the number of listeners."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

from .errors import HowdahError, is_innocent
from .message import Message

if TYPE_CHECKING:
    from .session import Session

log = logging.getLogger("howdah.listener")

Listener = Callable[[Message], None]


def failure_of(message: Message, error: BaseException) -> dict[str, object]:
    """What ``record_failures`` wants to know of a message and the error its handler raised."""
    return {
        "message_id": message.message_id,
        "priority": message.priority,
        "position": message.position,
        "stage": message.stage,
        "conversation_id": str(message.conversation_id) if message.conversation_id else None,
        "error_class": type(error).__name__,
        "error_text": str(error).replace("\x00", "\\0"),
        "sqlstate": getattr(error, "sqlstate", None),
        "traceback": "".join(traceback.format_exception(error)).replace("\x00", "\\0"),
    }


class Dispatcher(threading.Thread):
    """Receives for every listener in turn: commits if it returns, else rolls back and records the failure outside."""

    def __init__(self, session: Session, record: Callable[[str, dict[str, object]], None]) -> None:
        super().__init__(name="howdah-session", daemon=True)
        self._session = session
        self._record = record
        self.listeners: dict[str, Listener] = {}
        self.stopping = threading.Event()

    def run(self) -> None:
        """Until ``stopping`` is set: one pass over the listeners, then a pause if none had a message."""
        pause = 0.005
        while not self.stopping.is_set():
            busy = False
            for queue, listener in list(self.listeners.items()):
                try:
                    busy = self._deliver_one(queue, listener) or busy
                except HowdahError as error:
                    if self.stopping.is_set():
                        return
                    log.warning("listener of queue %s cannot receive: %s", queue, error)
            pause = 0.005 if busy else min(pause * 2, 0.25)
            if not busy:
                self.stopping.wait(pause)

    def _deliver_one(self, queue: str, listener: Listener) -> bool:
        messages = self._session.receive_now(queue)
        if not messages:
            return False
        try:
            listener(messages[0])
        except Exception as error:  # noqa: BLE001 - whatever a listener raises is a failed delivery
            self._session.rollback()
            if not is_innocent(error):
                self._record(queue, failure_of(messages[0], error))
            return True
        self._session.commit()
        return True
