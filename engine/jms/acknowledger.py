"""What a session says of the messages it delivered: consumed, failed and to be delivered again, or given back."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from ..calls import Call
from ..errors import IllegalState, LeaseLost, is_innocent
from ..handling.failure import text_of
from . import lease_calls
from .holding import Delivery, Holder
from .modes import AckType

T = TypeVar("T")
log = logging.getLogger("howdah.ack")


class Acknowledger:
    """Acknowledges with one statement a queue and counts statements by kind. The caller holds the session's lock."""

    def __init__(self, run: Callable[[Call[Any]], Any], lease_duration: float) -> None:
        self._runner = run
        self._lease_duration = lease_duration
        self.counts: Counter[AckType] = Counter()

    def _run(self, call: Call[T]) -> T:
        return cast(T, self._runner(call))

    def consume(self, messages: Sequence[Delivery], kind: AckType = AckType.STANDARD) -> None:
        """Consume messages, all or none, by one statement. Raises LeaseLost."""
        if messages:
            self._run(lease_calls.acknowledge_many(messages))
            self.consumed(messages, kind)

    def consumed(self, messages: Sequence[Delivery], kind: AckType = AckType.STANDARD) -> None:
        """Note that messages were consumed."""
        if messages:
            self.counts[kind] += 1
        for consumer, own in by_consumer(messages):
            consumer.acknowledged(own)

    def consume_own(self, messages: Sequence[Delivery]) -> set[int]:
        """As consume, for a session that acknowledges by itself. Returns the numbers consumed; others have the rest."""
        try:
            self.consume(messages)
        except LeaseLost:
            if len(messages) > 1:
                return {number for message in messages for number in self.consume_own([message])}
            log.warning("message %s of %s was somebody else's by now", messages[0].message_id, messages[0].queue)
            messages[0].consumer.acknowledged([messages[0]])
            return set()
        return {message.message_id for message in messages}

    def consume_interval(self, consumer: Holder, first: Delivery, last: Delivery) -> int:
        """Consume what a consumer got from one message to another. Returns how many. Raises LeaseLost, IllegalState."""

        def place(message: Delivery) -> tuple[int, int, int]:
            return message.lease, -message.priority, message.position

        held = consumer.holding
        chosen = [message for message in held.delivered.values() if place(first) <= place(message) <= place(last)]
        if any(place(first) <= place(message) <= place(last) for message in held.ahead):
            raise IllegalState("a message that was not delivered yet lies in between")
        done = self._run(
            lease_calls.acknowledge_interval(consumer.queue, held.leases, first.message_id, last.message_id)
        )
        self.consumed(chosen)
        return done

    def redeliver(self, messages: Sequence[Delivery], error_class: str, error_text: str) -> None:
        """Fail messages. Those that the queue gives back at once come next, each to the consumer that had it."""
        why = {"error_class": error_class, "error_text": error_text}
        for consumer, own in by_consumer(messages):
            until = time.monotonic() + self._lease_duration
            try:
                again = self._run(lease_calls.redeliver(consumer.queue, own, self._lease_duration, why))
            except BaseException:
                # Deliver them uncounted. If they were given back after all, the lost lease shows then.
                consumer.holding.again(own)
                raise
            self.counts[AckType.REDELIVERED] += 1
            consumer.acknowledged(own)
            if again is not None and consumer.closed:
                self._run(lease_calls.end_leases(consumer.queue, [again.number], [], why))
            elif again is not None:
                places = {message.message_id: place for place, message in enumerate(own)}
                again.messages.sort(key=lambda message: places[message.message_id])
                consumer.holding.add(again, consumer, until, first=True)

    def again(self, messages: Sequence[Delivery], error: BaseException) -> None:
        """Deliver them again after a commit that failed, counted as failed if the error blames a message."""
        if not is_innocent(error):
            self.redeliver(messages, type(error).__name__, text_of(error))
            return
        for consumer, own in by_consumer(messages):
            consumer.holding.again(own)

    def give_back(self, queue: str, messages: Sequence[Delivery]) -> None:
        """Put messages that were not delivered back in their place."""
        if messages:
            self._run(lease_calls.give_back(queue, messages))

    def end(self, consumer: Holder, error_class: str, error_text: str) -> None:
        """Give back all that a consumer holds. Only the messages that it delivered have failed."""
        held = consumer.holding
        if held.leases:
            why = {"error_class": error_class, "error_text": error_text}
            self._run(lease_calls.end_leases(consumer.queue, held.leases, list(held.delivered.values()), why))


def by_consumer(messages: Sequence[Delivery]) -> list[tuple[Holder, list[Delivery]]]:
    """Return the messages by the consumer that has them."""
    found: dict[int, tuple[Holder, list[Delivery]]] = {}
    for message in messages:
        found.setdefault(id(message.consumer), (message.consumer, []))[1].append(message)
    return list(found.values())
