"""The listeners of a session with an acknowledge mode. The mode decides what follows a message."""

from __future__ import annotations

import logging
from collections.abc import Callable

from .. import calls
from ..database.waiting import Idle
from ..errors import RAISED, as_exception
from ..handling.failure import failure_of, is_blamed, text_of
from ..handling.functions import check_ran
from ..tracing.points import processing
from .base import SessionBase
from .consumer import AckConsumer
from .holding import Delivery
from .modes import AckMode

log = logging.getLogger("howdah.listener")


class AckListeners:
    """Delivers to the listeners, and then does what the session's mode says."""

    def __init__(self, session: SessionBase, places: Callable[[], list[AckConsumer]]) -> None:
        """places: the consumers with a listener."""
        self._session = session
        self.places = places

    def deliver(self, place: AckConsumer, idle: Idle) -> bool:
        """Deliver a message if there is one. Raises what is not the message's fault."""
        listener = place.listener
        message = place.look(idle) if listener is not None else None
        if listener is None or message is None:
            return False
        with self._session.lock:
            place.deliver(message)
            given = place.gives(message)
            if given and not place.give(message):
                return True
        with processing(message, place.queue, pushed=True) as process:
            try:
                check_ran(listener(message))
            except RAISED as error:
                process.failed(error)
                if given:
                    self._session.run(calls.record_failures(place.queue, [failure_of(message, error)]))
                else:
                    self._failed(place, message, error)
            else:
                with self._session.lock:
                    if not given:
                        place.handled(message)
        return True

    def _failed(self, consumer: AckConsumer, message: Delivery, error: BaseException) -> None:
        """Deliver the message again at once in AUTO and DUPS_OK. Otherwise the client may still acknowledge it.

        Raises an innocent error, after which the message comes again uncounted, once the dispatcher has paused.
        """
        if self._session.mode not in (AckMode.AUTO, AckMode.DUPS_OK):
            log.warning("listener of %s: %s: %s", consumer.queue, type(error).__name__, error)
            return
        with self._session.lock:
            if not is_blamed(error) and not consumer.closed:
                consumer.holding.again([message])
                if isinstance(error, Exception):
                    raise error
                raise as_exception(error) from error
            self._session.acknowledger.redeliver([message], type(error).__name__, text_of(error))

    def recover(self, place: AckConsumer, error: Exception) -> None:
        """Log the error. Nothing is open that would have to be rolled back."""
        log.warning("listener of %s goes on after %s: %s", place.queue, type(error).__name__, error)
