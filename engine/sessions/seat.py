"""A consumer's place in a queue that tells consumers apart, or as the only one of an unshared subscription."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..calls import Call, consumers
from ..errors import ConsumerNotOpen

T = TypeVar("T")

TIMEOUT_MIN, TIMEOUT_MAX = 1.0, 86_400.0
"""What ``howdah.open_consumer`` takes."""


def is_subscription(name: str) -> bool:
    """Whether a name is a subscription's: a queue's has no colon."""
    return ":" in name


class Seat:
    """An open consumer. A subscription needs it from the start, a queue once it asks for one; most queues never do.

    It lives by its timeout: each request for messages, and each renewal, keeps it alive. It is not tied to a database
    session: each statement may run in another one, and behind a pooler nobody owns one.
    """

    def __init__(
        self,
        run: Callable[[Call[Any]], Any],
        queue: str,
        timeout: float,
        *,
        exclusive: bool = False,
        priority: int = 0,
        instance: str | None = None,
    ) -> None:
        """instance: the name of the instance with which it ends."""
        self._instance = instance
        self._run = run
        self._queue = queue
        self._timeout = min(max(timeout, TIMEOUT_MIN), TIMEOUT_MAX)
        self._exclusive = exclusive
        self._priority = priority
        #: Whether it is opened for any queue: it is exclusive, has a priority, or reads an unshared subscription.
        self.wanted = exclusive or priority != 0 or is_subscription(queue)
        #: The consumer's number. None: it has needed none yet, or others took its place.
        self.number: int | None = None

    def take(self) -> int | None:
        """Open a consumer and return its number; None: of a shared subscription, which needs none.

        Raises ConsumerRefused if the queue takes only one and has it, SubscriptionInUse if the unshared subscription
        is taken.
        """
        call = consumers.open_consumer(
            self._queue,
            exclusive=self._exclusive,
            priority=self._priority,
            timeout=self._timeout,
            instance=self._instance,
        )
        number: int | None = self._run(call)
        self.wanted = self.wanted and number is not None
        self.number = number
        return number

    def ask(self, call: Callable[[int | None], Call[T]]) -> T:
        """Run a call with the consumer's number. It takes a new one if the queue needs one or the old one is gone."""
        number = self.take() if self.number is None and self.wanted else self.number
        try:
            answer: T = self._run(call(number))
        except ConsumerNotOpen:
            self.number = None
            answer = self._run(call(self.take()))
        return answer

    def lost(self) -> None:
        """Note that others took its place. The next call opens another consumer."""
        self.number = None

    def leave(self) -> None:
        """Close it, so that others need not wait for its timeout."""
        number, self.number = self.number, None
        if number is not None:
            self._run(consumers.close_consumer(number))
