"""AMQP's exchanges. Direct ones send to queues; the others are topics of Howdah, which all processes share."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from kombu.transport.virtual import exchange as virtual

from .places import TEMPORARY, queue_name


class TopicExchange(virtual.TopicExchange):  # type: ignore[misc]
    """An exchange whose messages go to the topic of its name, whoever has bound a queue to it."""

    def deliver(self, message: dict[str, Any], exchange: str, routing_key: str, **options: Any) -> None:
        """Publish."""
        self.channel._put_fanout(exchange, message, routing_key, **options)


class FanoutExchange(virtual.FanoutExchange):  # type: ignore[misc]
    """The same, but a routing key means nothing here."""

    def deliver(self, message: dict[str, Any], exchange: str, routing_key: str, **options: Any) -> None:
        """Publish."""
        self.channel._put_fanout(exchange, message, routing_key, **options)


class Replies:
    """Where answers go: which temporary queue is bound to a direct exchange by which key, as far as this is known.

    The name of a temporary queue is Howdah's, and the asker's alone. So a command that asks for an answer brings the
    name along, under ``replies``.
    """

    MOST = 10_000

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._own: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def bind(self, exchange: str, routing_key: str, place: str) -> None:
        """Note that this process waits there."""
        with self._lock:
            self._own.add((exchange, routing_key))
            self._note(exchange, routing_key, place)

    def unbind(self, exchange: str, routing_key: str) -> None:
        """Note that it no longer waits there."""
        with self._lock:
            self._own.discard((exchange, routing_key))
            self._known.pop((exchange, routing_key), None)

    def learn(self, told: Any) -> None:
        """Note that another process waits there, as its message said. It may name no other place than its own queue of
        answers.

        Without an exchange's name it would redirect what others send to a queue.
        """
        told = told if isinstance(told, list) else []
        with self._lock:
            for one in told:
                if isinstance(one, list) and len(one) == 3 and all(isinstance(word, str) and word for word in one):
                    exchange, routing_key, place = one
                    if place.startswith(TEMPORARY) and (exchange, routing_key) not in self._own:
                        self._note(exchange, routing_key, place)

    def find(self, exchange: str, routing_key: str) -> str | None:
        """Where an answer goes."""
        with self._lock:
            return self._known.get((exchange, routing_key))

    def named_in(self, body: Any) -> list[tuple[str, str, str]]:
        """What a message must tell: where this process waits by a key that the message names."""
        text = body if isinstance(body, str) else bytes(body).decode("utf-8", "replace")
        with self._lock:
            return [(*key, self._known[key]) for key in self._own if key[1] and key[1] in text]

    def _note(self, exchange: str, routing_key: str, place: str) -> None:
        self._known[exchange, routing_key] = place
        self._known.move_to_end((exchange, routing_key))
        while len(self._known) > self.MOST:
            oldest = next(key for key in self._known if key not in self._own or len(self._own) == len(self._known))
            del self._known[oldest]
            self._own.discard(oldest)


def topic_name(exchange: str) -> str:
    """The topic of an exchange. Its queues lie beside it, and may have the exchange's name."""
    return queue_name(f"{exchange}.exchange")
