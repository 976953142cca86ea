"""A channel of kombu: AMQP's verbs as calls of Howdah's functions."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable
from queue import Empty
from typing import Any, ClassVar

from amqp.protocol import queue_declare_ok_t
from kombu.exceptions import ChannelError
from kombu.transport import virtual
from kombu.transport.base import to_rabbitmq_queue_arguments
from kombu.utils.uuid import uuid

from ..engine.calls import receive
from ..engine.calls.leases import lease
from ..engine.database.runner import run
from ..engine.errors import HowdahError, NoSuchQueue, QueuePaused
from .envelope import KOMBU, incoming, outgoing
from .exchanges import FanoutExchange, TopicExchange, topic_name
from .leases import Held, log
from .owner import Owner
from .places import Kind, matches
from .server import callers

MOST = 100
"""Messages of one call."""
MOST_UNLIMITED = 10
"""The same for a consumer that sets no limit to what it prefetches."""


class Delivered(virtual.Message):  # type: ignore[misc]
    """A message and the lease under which it is held; None: it is consumed already."""

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


class Channel(virtual.Channel):  # type: ignore[misc]
    """One of a connection's channels. All of them share its session and its leases."""

    Message = Delivered
    QoS = QoS
    supports_fanout = True
    body_encoding = None
    exchange_types: ClassVar[dict[str, type]] = {
        "direct": virtual.exchange.DirectExchange,
        "topic": TopicExchange,
        "fanout": FanoutExchange,
    }

    def __init__(self, connection: Owner, **options: Any) -> None:
        """connection: kombu calls the transport so."""
        super().__init__(connection, **options)
        self.transport = connection
        self.leases = connection.leases
        self._without_ack: set[str] = set()
        self._fetched: deque[tuple[str, Delivered]] = deque()

    # what there is

    def prepare_queue_arguments(self, arguments: dict[str, Any] | None, **options: Any) -> dict[str, Any]:
        """Keep what kombu's queues say of expiry."""
        prepared: dict[str, Any] = to_rabbitmq_queue_arguments(arguments or {}, **options)
        return prepared

    def queue_declare(
        self,
        queue: str | None = None,
        passive: bool = False,
        exclusive: bool = False,
        auto_delete: bool = False,
        arguments: dict[str, Any] | None = None,
        **options: Any,
    ) -> queue_declare_ok_t:
        """Make a queue if there is none. One that ends with its consumer is made when it is bound or consumed."""
        queue = queue or f"amq.gen-{uuid()}"
        if passive:
            if not self._has_queue(queue):
                raise ChannelError(f"NOT_FOUND - no queue {queue!r}", (50, 10), "Channel.queue_declare", "404")
            return queue_declare_ok_t(queue, self._size(queue), 0)
        place = self.transport.places.declare(queue, arguments or {}, exclusive=exclusive, passing=auto_delete)
        if not place.passing and not place.exclusive:
            self.transport.places.make(place)
        return queue_declare_ok_t(queue, 0, 0)

    def _queue_bind(self, exchange: str, routing_key: str, pattern: Any, queue: str) -> None:
        kind = self.typeof(exchange).type
        durable = self.state.exchanges[exchange].get("durable", True)
        self.transport.places.bind(queue, exchange, routing_key or "", kind, durable=durable)

    def queue_unbind(self, queue: str, exchange: str = "", routing_key: str = "", **options: Any) -> None:
        """Bind a queue no longer."""
        super().queue_unbind(queue, exchange, routing_key, **options)
        self.transport.places.unbind(queue, exchange, routing_key or "")

    def _has_queue(self, queue: str, **options: Any) -> bool:
        return self.transport.places.exists(queue)

    def _size(self, queue: str) -> int:
        return self.transport.places.size(queue)

    def _purge(self, queue: str) -> int:
        return self.transport.places.purge(queue)

    def _delete(self, queue: str, *bindings: Any, **options: Any) -> None:
        self.transport.places.drop(queue)

    def queue_delete(self, queue: str, if_unused: bool = False, if_empty: bool = False, **options: Any) -> None:
        """Drop a queue."""
        if not (if_empty and self._size(queue)):
            self.state.queue_bindings_delete(queue)
            self.transport.places.drop(queue)

    def after_reply_message_received(self, queue: str) -> None:
        """Keep the queue of answers for the next question: it ends with the connection."""

    # sending

    def prepare_message(self, body: Any, priority: int | None = None, *args: Any, **options: Any) -> dict[str, Any]:
        """As kombu does, but without a priority where none was given: the queue has a default."""
        message: dict[str, Any] = super().prepare_message(body, priority, *args, **options)
        if not priority:
            message["properties"].pop("priority", None)
        return message

    def _lookup(self, exchange: str, routing_key: str, default: str | None = None) -> Iterable[str]:
        reply = self.transport.replies.find(exchange, routing_key)
        return [reply] if reply is not None else super()._lookup(exchange, routing_key, default)

    def _put(self, queue: str, message: dict[str, Any], **options: Any) -> None:
        places = self.transport.places
        reply_to = message["properties"].get("reply_to")
        if reply_to:
            # The answer comes to what Howdah calls the queue. Nobody else could know it.
            message["properties"]["reply_to"] = places.known(reply_to) or reply_to
        place = places.target(queue)
        if place.kind is Kind.TEMPORARY:
            self._answer(place.howdah or queue, message)
            return
        own = callers()
        name = places.make(place)
        if own is not None:
            run(own, outgoing(name, message))
            return
        try:
            self.transport.server.run(outgoing(name, message), twice=False)
        except NoSuchQueue:  # somebody has dropped it
            self.transport.server.run(outgoing(places.make(place, anew=True), message), twice=False)

    def _answer(self, name: str, message: dict[str, Any]) -> None:
        try:
            self.transport.server.run(outgoing(name, message), twice=False)
        except NoSuchQueue:
            log.debug("nobody waits at %s any more", name)

    def _put_fanout(self, exchange: str, message: dict[str, Any], routing_key: str, **options: Any) -> None:
        replies = self.transport.replies.named_in(message["body"])
        call = outgoing(topic_name(exchange), message, topic=True, **({"replies": replies} if replies else {}))
        own = None if exchange.endswith(".pidbox") else callers()
        try:
            if own is not None:
                run(own, call)
            else:
                self.transport.server.run(call, twice=False)
        except NoSuchQueue:
            if own is not None:
                raise
            log.debug("nobody has bound a queue to exchange %s", exchange)

    # receiving

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
        try:
            message = self._take(queue, 1, no_ack=no_ack)[0]
        except IndexError:
            return None
        if message.held is not None:
            self.qos.append(message, message.delivery_tag)
        return message

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        raise Empty  # kombu asks its own way nowhere: see fetch

    @property
    def room(self) -> int:
        """How many messages the consumer takes at present."""
        most: int = self.qos.prefetch_count
        if not most:
            return MOST_UNLIMITED
        held: int = len(self.qos._delivered) - len(self.qos._dirty)
        return max(0, most - held - len(self._fetched))

    @property
    def wanted(self) -> list[str]:
        """The queues to look at."""
        return list(self._active_queues) if self._consumers and self.room else []

    @property
    def full(self) -> bool:
        """Whether the consumer takes no more until it has acknowledged some."""
        return bool(self._consumers) and not self.room

    def fetch(self, most: int, *, passing: bool = True) -> int:
        """Receive what there is, up to ``most`` messages of a queue without acknowledgements; how many."""
        count = 0
        for queue in self.wanted:
            self._active_queues.append(self._active_queues.pop(self._active_queues.index(queue)))
            no_ack = queue in self._without_ack
            if no_ack and not passing:
                continue
            room = most if no_ack else min(self.room, MOST)
            if room > 0:
                messages = self._take(queue, room, no_ack=no_ack)
                self._fetched.extend((queue, message) for message in messages)
                count += len(messages)
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

    def _take(self, queue: str, most: int, *, no_ack: bool) -> list[Delivered]:
        places = self.transport.places
        place = places.target(queue)
        name = places.make(place)
        try:
            if no_ack:
                taken, number = self.transport.server.run(receive(name, most)), None
            else:
                leased = self.transport.server.run(lease(name, most, self.transport.lease_seconds))
                taken, number = (leased.messages, leased.number) if leased else ([], None)
        except NoSuchQueue:
            places.make(place, anew=True)
            return []
        except QueuePaused as error:
            log.debug("%s: %s", name, error)
            return []
        if number is not None:
            self.leases.add(name, number, [message.message_id for message in taken])
        messages = []
        for one in taken:
            payload = incoming(one, f"{number or 0}.{one.message_id}")
            message = Delivered(payload, channel=self)
            if number is not None:
                message.held = Held(name, number, one.message_id)
            self.transport.replies.learn(payload[KOMBU].get("replies"))
            if matches(place.patterns, message.delivery_info["routing_key"]):
                messages.append(message)
            elif message.held is not None:
                self.leases.ack(message.held)
        return messages

    def give_back(self, queue: str | None = None) -> None:
        """Give back what was fetched and not delivered, from one queue or all."""
        back = [message.held for name, message in self._fetched if queue in (None, name) and message.held is not None]
        self._fetched = deque((name, message) for name, message in self._fetched if queue not in (None, name))
        if back:
            self.leases.release(back)

    def close(self) -> None:
        """Receive no more, and give back what nobody has handled."""
        if not self.closed and self.connection is not None:
            try:
                self.leases.flush()
                self.give_back()
            except (HowdahError, OSError) as error:
                log.warning("messages come back when their leases end: %s", error)
        super().close()
