"""A channel of kombu: AMQP's verbs as calls of Howdah's functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from amqp.protocol import queue_declare_ok_t
from kombu.exceptions import ChannelError
from kombu.transport import virtual
from kombu.transport.base import to_rabbitmq_queue_arguments
from kombu.utils.uuid import uuid

from ..engine.database.runner import run
from ..engine.errors import HowdahError, NoSuchQueue, NotAllowed
from .envelope import outgoing
from .exchanges import FanoutExchange, TopicExchange, topic_name
from .leases import log
from .places import Kind, queue_name
from .receiving import Receiving
from .server import apart, callers


class Channel(Receiving):
    """One of a connection's channels. All of them share its session and its leases."""

    supports_fanout = True
    body_encoding = None
    exchange_types: ClassVar[dict[str, type]] = {
        "direct": virtual.exchange.DirectExchange,
        "topic": TopicExchange,
        "fanout": FanoutExchange,
    }

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
        """Make a queue if there is none. One that ends with its consumer is made when it is bound or consumed.

        passive: make none, and count its messages. Raises ChannelError if there is none.
        """
        queue = queue or f"amq.gen-{uuid()}"
        if passive:
            if not self._has_queue(queue):
                raise ChannelError(f"NOT_FOUND - no queue {queue!r}", (50, 10), "Channel.queue_declare", "404")
            try:
                return queue_declare_ok_t(queue, self._size(queue), 0)
            except NotAllowed:  # a role that only sends may not count
                return queue_declare_ok_t(queue, 0, 0)
        place = self.transport.places.declare(queue, arguments or {}, exclusive=exclusive, passing=auto_delete)
        if not place.passing and not place.exclusive:
            self.transport.places.make(place)
        # Do not count: each new connection of a producer declares all its queues, and a count reads many tables.
        return queue_declare_ok_t(queue, 0, 0)

    def _queue_bind(self, exchange: str, routing_key: str, pattern: Any, queue: str) -> None:
        kind = self.typeof(exchange).type
        durable = self.state.exchanges[exchange].get("durable", True)
        self.transport.places.bind(queue, exchange, routing_key or "", kind, durable=durable)

    def queue_unbind(self, queue: str, exchange: str = "", routing_key: str = "", **options: Any) -> None:
        """Bind a queue no longer."""
        self.transport.places.unbind(queue, exchange, routing_key or "", self.typeof(exchange).type)
        super().queue_unbind(queue, exchange, routing_key, **options)

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
            self.transport.places.drop(queue)
            self.state.queue_bindings_delete(queue)

    def after_reply_message_received(self, queue: str) -> None:
        """Keep the queue of answers for the next question: it ends with the connection."""

    # sending

    def prepare_message(self, body: Any, priority: int | None = None, *args: Any, **options: Any) -> dict[str, Any]:
        """As kombu does, but without a priority if none was given: the queue has a default."""
        message: dict[str, Any] = super().prepare_message(body, priority, *args, **options)
        if not priority:
            message["properties"].pop("priority", None)
        return message

    def _lookup(self, exchange: str, routing_key: str, default: str | None = None) -> Iterable[str]:
        found = list(super()._lookup(exchange, routing_key, default))
        reply = self.transport.replies.find(exchange, routing_key) if exchange and not found else None
        return found if reply is None else [reply]

    def _put(self, queue: str, message: dict[str, Any], **options: Any) -> None:
        places = self.transport.places
        reply_to = message["properties"].get("reply_to")
        if reply_to:
            # The answer comes to what Howdah calls the queue. Nobody else could know it.
            message["properties"]["reply_to"] = places.answers_at(reply_to)
        place = places.target(queue)
        own = callers()
        if place.kind is Kind.TEMPORARY or not (place.declared or own):
            # As in AMQP, a message to an undeclared queue is lost if there is no such queue.
            self._answer(place.howdah or queue_name(queue), message)
            return
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
        # Under its plain name, a missing topic would create itself as a queue (docs/auto-creation.md).
        topic = f"topic://{topic_name(exchange)}"
        call = outgoing(topic, message, topic=True, **({"replies": replies} if replies else {}))
        own = None if exchange.endswith(".pidbox") else callers()
        try:
            if own is not None:
                # Celery goes on when an event is refused, and the caller's transaction has to.
                with apart(own):
                    run(own, call)
            else:
                self.transport.server.run(call, twice=False)
        except NoSuchQueue:
            log.debug("nobody has bound a queue to exchange %s", exchange)

    def close(self) -> None:
        """Receive no more, and give back what nobody has handled."""
        if not self.closed and self.connection is not None:
            try:
                self.leases.flush()
                self.give_back()
            except (HowdahError, OSError) as error:
                log.warning("messages come back when their leases end: %s", error)
        super().close()
