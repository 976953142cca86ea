"""Subscriptions that handlers work on: made when a process first receives, then received like a queue.

Shared, the default, lets every session of every process receive. Unshared keeps the order of publishing: one session
receives at a time, and the others stand by to take over.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from ..engine.calls.topics import Subscription
from ..engine.database.runner import run
from ..engine.errors import NoSuchListener, NoSuchQueue, SubscriptionInUse
from .app import App
from .batch_mode import Done
from .delivery import Delivery
from .endpoint import EndpointDelivery
from .guard import HandlerConnection

STANDBY_SECONDS = 0.5
"""Seconds that a session leaves an unshared subscription alone that another process reads."""


class Subscriber:
    """One subscription, as the sessions of one process know it."""

    def __init__(self, subscription: Subscription) -> None:
        self.subscription = subscription
        self._lock = threading.Lock()
        self._made = False
        #: The receiving session holds it, if only one may receive.
        self.turn = threading.Lock()

    def ready(self, connection: HandlerConnection) -> None:
        """Subscribe once; an equal subscription stays as it is. Raises HowdahError if that fails."""
        with self._lock:
            if self._made:
                return
            with connection.transaction():
                run(connection, self.subscription.call())
            self._made = True

    def gone(self) -> None:
        """Note that it is gone. A non-durable one is created again; a durable one was dropped on purpose."""
        self._made = self.subscription.durable


def subscribers_of(app: App) -> dict[str, Subscriber]:
    """The subscriber of each subscription that has handlers, for all sessions of a process."""
    return {
        binding.queue: Subscriber(binding.subscription)
        for binding in app.bindings.values()
        if binding.subscription is not None
    }


class SubscriptionDelivery(Delivery):
    """Delivers the messages of a subscription."""

    def __init__(self, subscriber: Subscriber, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._subscriber = subscriber
        self._not_before = 0.0

    def run_once(self, connection: HandlerConnection) -> Done:
        """As Delivery's, but nothing on another session's turn. Raises HowdahError while there is no subscription."""
        self._subscriber.ready(connection)
        try:
            if self._subscriber.subscription.shared:
                return super().run_once(connection)
            if time.monotonic() < self._not_before or not self._subscriber.turn.acquire(blocking=False):
                return Done()
            try:
                return super().run_once(connection)
            finally:
                self._subscriber.turn.release()
        except SubscriptionInUse:
            self._not_before = time.monotonic() + STANDBY_SECONDS
            return Done()
        except NoSuchQueue:
            self._subscriber.gone()
            raise


class ListenedSubscriptionDelivery(SubscriptionDelivery, EndpointDelivery):
    """Delivers the messages of a subscription through a listener, which is made after it and ends with it."""

    def run_once(self, connection: HandlerConnection) -> Done:
        """As both. A non-durable subscription's listener is made again too; any other was dropped on purpose."""
        try:
            return super().run_once(connection)
        except (NoSuchQueue, NoSuchListener):
            self._subscriber.gone()
            if not self._subscriber.subscription.durable:
                self._endpoint.gone()
            raise
