"""The receiving half of a channel: prefetching, delivering, acknowledging."""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import replace
from queue import Empty
from typing import Any

from kombu.transport import virtual

from ..engine.calls import receive
from ..engine.calls.leases import lease
from ..engine.errors import HowdahError, NoSuchQueue, QueuePaused
from .envelope import KOMBU, incoming
from .exchanges import topic_name
from .leases import Held, log
from .owner import Owner
from .places import Place

MOST = 100
"""The most messages of one call."""
MOST_UNLIMITED = 10
"""The same for a consumer whose prefetch has no limit."""


class Delivered(virtual.Message):  # type: ignore[misc]
    """A message and its lease. None: it is consumed already."""

    held: Held | None = None


class QoS(virtual.QoS):  # type: ignore[misc]
    """What is delivered and not acknowledged."""

    def ack(self, delivery_tag: str) -> None:
        """Consume a message."""
        held = self._held(delivery_tag)
        super().ack(delivery_tag)
        if held is not None:
            self.channel.leases.ack(held)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Give a message back as failed."""
        held = self._held(delivery_tag)
        super().ack(delivery_tag)
        if held is not None:
            self.channel.leases.reject(held, requeue=requeue)

    def restore_unacked(self) -> list[Any]:
        """Give back what nobody has handled. What runs stays in hand: its lease outlives the connection."""
        self._flush()
        running = _running()
        idle = {tag: message for tag, message in self._delivered.items() if tag not in running}
        for tag in idle:
            del self._delivered[tag]
        try:
            self.channel.leases.release([message.held for message in idle.values() if message.held is not None])
        except (HowdahError, OSError) as error:
            log.warning("%s messages come back when their leases end: %s", len(idle), error)
        return []

    def _held(self, delivery_tag: str) -> Held | None:
        message = None if delivery_tag in self._dirty else self._delivered.get(delivery_tag)
        return None if message is None else message.held


def _running() -> set[str]:
    """The messages whose tasks a worker of Celery runs, and will acknowledge whatever becomes of the connection."""
    state = sys.modules.get("celery.worker.state")
    if state is None or any(
        told is not None and told is not False for told in (state.should_stop, state.should_terminate)
    ):
        return set()
    return {request.message.delivery_tag for request in tuple(state.active_requests)}


class Receiving(virtual.Channel):  # type: ignore[misc]
    """A channel as its consumers see it."""

    Message = Delivered
    QoS = QoS

    def __init__(self, connection: Owner, **options: Any) -> None:
        """connection: kombu calls the transport so."""
        super().__init__(connection, **options)
        self.transport = connection
        self.leases = connection.leases
        self._without_ack: set[str] = set()
        self._fetched: deque[tuple[str, Delivered]] = deque()

    def basic_consume(self, queue: str, no_ack: bool, callback: Any, consumer_tag: str, **options: Any) -> None:
        """Receive from a queue from now on."""
        if no_ack:
            self._without_ack.add(queue)
        self.transport.places.make(self.transport.places.target(queue))
        super().basic_consume(queue, no_ack, callback, consumer_tag, **options)

        def deliver(message: Delivered) -> Any:
            if message.held is not None:
                self.qos.append(message, message.delivery_tag)
            return callback(message)

        self.connection._callbacks[queue] = deliver
        self.transport.hurry()

    def basic_cancel(self, consumer_tag: str) -> None:
        """Receive from a queue no longer."""
        queue = self._tag_to_queue.get(consumer_tag)
        super().basic_cancel(consumer_tag)
        if queue is not None and queue not in self._active_queues:
            self._without_ack.discard(queue)
            self.give_back(queue)

    def basic_get(self, queue: str, no_ack: bool = False, **options: Any) -> Delivered | None:
        """Receive one message, if there is one."""
        messages, looked_at = self._take(queue, 1, no_ack=no_ack)
        while looked_at and not messages:
            messages, looked_at = self._take(queue, 1, no_ack=no_ack)
        if not messages:
            return None
        message = messages[0]
        if message.held is not None:
            self.qos.append(message, message.delivery_tag)
        return message

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        raise Empty  # kombu never calls this: see fetch

    @property
    def room(self) -> int:
        """How many messages the consumer takes at present."""
        most: int = self.qos.prefetch_count
        if not most:
            return MOST_UNLIMITED
        held: int = len(self.qos._delivered) - len(self.qos._dirty)
        return max(0, most - held - len(self._fetched))

    @property
    def wants_more(self) -> bool:
        """Whether the consumer should receive more messages now.

        A worker of Celery wants none while more than half of what it may prefetch waits for its pool. If it did, each
        acknowledgement would bring one message, in a call of its own.
        """
        waiting = len(self.qos._delivered) - len(self.qos._dirty) + len(self._fetched)
        state = sys.modules.get("celery.worker.state")
        most: int = self.qos.prefetch_count
        if state is None or not most:
            return self.room > 0
        return self.room > 0 and (waiting - len(state.active_requests)) * 2 <= most

    @property
    def wanted(self) -> list[str]:
        """The queues to look at."""
        return list(self._active_queues) if self._consumers and self.room else []

    @property
    def full(self) -> bool:
        """Whether the consumer takes no more until some are acknowledged or begun."""
        return bool(self._consumers) and not self.wants_more

    def fetch(self, most: int, *, passing: bool | None = None) -> int:
        """Receive what there is, up to ``most`` messages of a queue without acknowledgements. Returns how many.

        Dropped messages count too, because more messages may lie behind them.
        passing: from queues without acknowledgements only, or from the others only; None: from all.
        """
        count, wants_more = 0, self.wants_more
        for queue in self.wanted:
            self._active_queues.append(self._active_queues.pop(self._active_queues.index(queue)))
            no_ack = queue in self._without_ack
            if passing is not None and no_ack != passing:
                continue
            room = most if no_ack else min(self.room, MOST) if wants_more else 0
            if room > 0:
                messages, looked_at = self._take(queue, room, no_ack=no_ack)
                self._fetched.extend((queue, message) for message in messages)
                count += looked_at
            if count and most == 1:
                break  # the next comes in another call, and might be lost until then
        return count

    def deliver(self) -> bool:
        """Hand over one message that was fetched, if there is one."""
        try:
            queue, message = self._fetched.popleft()
        except IndexError:
            return False
        self.connection._callbacks[queue](message)
        return True

    def deliver_to_worker(self) -> bool:
        """The same in a worker's event loop, which would look for no more messages after an error of one."""
        message = self._fetched[0][1] if self._fetched else None
        try:
            return self.deliver()
        except self.transport.connection_errors:
            raise
        except Exception:  # noqa: BLE001 - whatever a sender wrote: this message alone fails
            assert message is not None
            tag = message.delivery_tag
            log.exception("message %s cannot be taken: its delivery has failed", tag)
            if tag in self.qos._delivered and tag not in self.qos._dirty:
                self.qos.reject(tag, requeue=True)
            return True

    def _take(self, queue: str, most: int, *, no_ack: bool) -> tuple[list[Delivered], int]:
        """Messages for a queue, and how many were looked at."""
        messages: list[Delivered] = []
        looked_at = 0
        place = self.transport.places.target(queue)
        sources = self.transport.places.sources(place)
        if len(sources) > 1:  # another is the first of the next call, so that a busy one does not starve it
            place.sources[sources[0]] = place.sources.pop(sources[0])
        for source in sources:
            if len(messages) < most:
                found, number = self._take_from(place, source, most - len(messages), no_ack=no_ack)
                messages += found
                looked_at += number
        return messages, looked_at

    def _take_from(self, place: Place, name: str, most: int, *, no_ack: bool) -> tuple[list[Delivered], int]:
        # With early_start the pool begins a task while the disk is written: the event loop flushes milliseconds later.
        volatile = self.transport.flushes
        try:
            if no_ack:
                taken, number = self.transport.server.run(receive(name, most)), None
            else:
                call = lease(name, most, self.transport.lease_seconds)
                if volatile:
                    call = replace(call, sql=f"{call.sql}, set_config('synchronous_commit', 'off', true)")
                leased = self.transport.server.run(call)
                taken, number = (leased.messages, leased.number) if leased else ([], None)
        except NoSuchQueue:
            self.transport.places.make(place, anew=True)
            return [], 0
        except QueuePaused as error:
            log.debug("%s: %s", name, error)
            return [], 0
        if number is not None:
            self.leases.add(name, number, [message.message_id for message in taken], volatile=volatile)
        messages = []
        for one in taken:
            held = None if number is None else Held(name, number, one.message_id)
            try:
                payload = incoming(one, f"{number or 0}.{one.message_id}")
                message = Delivered(payload, channel=self)
            except (TypeError, ValueError, LookupError, AttributeError, RecursionError):  # senders may write anything
                log.exception("message %s of %s cannot be read: it is rejected", one.message_id, name)
                self._refuse(held)
                continue
            message.held = held
            self.transport.replies.learn(payload[KOMBU].get("replies"))
            info = message.delivery_info
            if place.fits(name, topic_name(info["exchange"]), info["routing_key"]):
                messages.append(message)
            elif held is not None:
                self.leases.ack(held)
        return messages, len(taken)

    def _refuse(self, held: Held | None) -> None:
        """Reject what nobody can handle."""
        if held is not None:
            try:
                self.leases.reject(held, requeue=False)
            except (HowdahError, OSError) as error:
                log.warning("message %s of %s is rejected later: %s", held.message_id, held.queue, error)

    def give_back(self, queue: str | None = None) -> None:
        """Give back what was fetched and not delivered, from one queue or all."""
        back = [message.held for name, message in self._fetched if queue in (None, name) and message.held is not None]
        self._fetched = deque((name, message) for name, message in self._fetched if queue not in (None, name))
        if back:
            self.leases.release(back)
