"""Passing queues of kombu's transport, and the messages in them."""

from __future__ import annotations

from typing import Any

from kombu import Connection, Consumer, Exchange, Producer, Queue
from support import Db, column


def bodies(db: Db, queue: str) -> list[str]:
    return column(db, "select body from howdah.browse(%s)", [queue])


def received(connection: Connection, *queues: Queue, count: int, no_ack: bool = True) -> list[Any]:
    """The next messages' bodies."""
    found: list[Any] = []
    with Consumer(connection, queues, callbacks=[lambda body, _: found.append(body)], no_ack=no_ack):
        while len(found) < count:
            connection.drain_events(timeout=10)
    return found


NEWS = Exchange("news", "topic")


def reader(connection: Connection, *patterns: str) -> Queue:
    """A passing queue that is bound with patterns, in their order."""
    channel = connection.default_channel
    NEWS(channel).declare()
    queue = Queue("reader", auto_delete=True)(channel)
    queue.declare()
    for pattern in patterns:
        queue.bind_to(NEWS, pattern)
    return queue


def publish(connection: Connection, *keys: str) -> None:
    """Messages whose bodies are their routing keys."""
    for key in keys:
        Producer(connection).publish(key, exchange=NEWS, routing_key=key)


def taken(connection: Connection, pattern: str) -> list[str]:
    """What a process gets of the messages that one binding of the reader brought it."""
    place = connection.transport.places.target("reader")
    (source,) = [name for name, (_, by) in place.sources.items() if by == pattern]
    messages, _ = connection.default_channel._take_from(place, source, 1, no_ack=True)
    return [message.payload for message in messages]
