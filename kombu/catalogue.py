"""Makes AMQP's queues in Howdah, and remembers which there are."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from ..engine.calls import Call, scalar, table
from ..engine.calls.bodies import to_json
from ..engine.calls.temporary import drop as drop_temporary
from ..engine.calls.topics import Subscription, unsubscribe
from ..engine.errors import HowdahError, NoSuchQueue, NotAllowed, QueueExists
from .exchanges import Replies, topic_name
from .places import TEMPORARY, Kind, Place, queue_name, selector, subscription_name
from .server import Server

log = logging.getLogger("howdah.kombu")

OPTIONS = {"default_priority": 0}
"""Of the queues made here. In AMQP a message without a priority has the lowest."""
TIME_TO_LIVE = "x-message-ttl"


class Catalogue:
    """The queues of one connection of kombu."""

    def __init__(self, server: Server, replies: Replies, options: dict[str, Any]) -> None:
        """options: those of new queues, as of howdah.create_queue."""
        self._server = server
        self._replies = replies
        self._options = options
        self._places: dict[str, Place] = {}
        self._bridged: set[str] = set()

    def declare(self, queue: str, arguments: dict[str, Any], *, exclusive: bool, passing: bool) -> Place:
        """Note a queue. passing: it ends with its last consumer."""
        place = self._places.get(queue)
        if place is None:
            place = self._places[queue] = Place(queue, passing=passing, exclusive=exclusive, arguments=arguments)
        place.declared = True
        return place

    def bind(self, queue: str, exchange: str, routing_key: str, kind: str, *, durable: bool) -> None:
        """Note where a queue's messages come from; what needs the database for it is made now."""
        place = self.target(queue)
        if kind in ("topic", "fanout"):
            pattern = routing_key if kind == "topic" else "#"
            place.topic = topic_name(exchange)
            if pattern not in place.patterns:
                place.patterns.append(pattern)
            if place.passing or place.exclusive:
                place.kind = Kind.SUBSCRIPTION
                self.make(place, anew=True)
            else:
                self._bridge(place)
        elif place.exclusive or (place.passing and not durable):
            place.kind = Kind.TEMPORARY
            self._replies.bind(exchange, routing_key, self.make(place))
        else:
            place.passing = False  # other processes send to it by its name, and so it has to be a queue of its own
            self.make(place)

    def unbind(self, queue: str, exchange: str, routing_key: str) -> None:
        """Bind it no longer."""
        place = self._places.get(queue)
        self._replies.unbind(exchange, routing_key)
        if place is not None and place.topic == topic_name(exchange):
            place.patterns = [pattern for pattern in place.patterns if pattern not in (routing_key, "#")]
            if place.kind is Kind.QUEUE and not place.patterns:
                self._quietly(scalar("unbridge", topic=("text", place.topic), queue=("text", self.make(place))))

    def target(self, queue: str) -> Place:
        """What a queue is; one that nobody has declared is one of Howdah's."""
        place = self._places.get(queue)
        if place is None:
            place = Place(queue)
            made = queue if queue.startswith(TEMPORARY) else self._server.sharing.queues.get(queue)
            if made is not None:
                place.kind, place.howdah = Kind.TEMPORARY, made
            else:
                self._places[queue] = place
        return place

    def answers_at(self, queue: str) -> str:
        """What an answerer sends to, to reach a queue of this process. It may have been declared, and not made yet."""
        place = self._places.get(queue)
        if place is not None and (place.passing or place.exclusive) and place.kind is not Kind.SUBSCRIPTION:
            return self.make(place)
        return self._server.sharing.queues.get(queue) or queue

    def make(self, place: Place, *, anew: bool = False) -> str:
        """What Howdah calls a queue, which is made if need be. anew: somebody has dropped it, or it was changed."""
        if place.howdah is None or anew:
            if place.kind is Kind.QUEUE and (place.exclusive or place.passing):
                place.kind = Kind.TEMPORARY
            makers: dict[Kind, Callable[[Place], str]] = {
                Kind.QUEUE: self._queue,
                Kind.TEMPORARY: self._remade if anew else self._temporary,
                Kind.SUBSCRIPTION: self._subscription,
            }
            place.howdah = makers[place.kind](place)
        return place.howdah

    def exists(self, queue: str) -> bool:
        """Whether there is such a queue."""
        place = self.target(queue)
        name = place.howdah or queue_name(queue)
        return self._server.run(scalar("my_rights", queue=("text", name))) is not None

    def size(self, queue: str) -> int:
        """How many messages are ready or wait for their time."""
        name = self.make(self.target(queue))
        (row,) = self._server.run(table("queue_stats", "live, parked", queue=("text", name)))
        return int(row["live"]) + int(row["parked"])

    def purge(self, queue: str) -> int:
        """Discard a queue's messages."""
        try:
            return int(self._server.run(scalar("purge_queue", queue=("text", self.make(self.target(queue))))))
        except NoSuchQueue:
            return 0

    def drop(self, queue: str) -> None:
        """End a queue."""
        place = self._places.pop(queue, None)
        name = queue_name(queue) if place is None or place.howdah is None else place.howdah
        if place is not None and place.kind is Kind.SUBSCRIPTION:
            self._quietly(unsubscribe(name))
        elif place is not None and place.kind is Kind.TEMPORARY:
            self._server.sharing.queues.pop(place.name, None)
            self._quietly(drop_temporary(name))
        else:
            self._quietly(Call("select howdah.drop_queue(%s::text, true)", (name,), lambda rows: None))

    def close(self) -> None:
        """End what ends with the connection. Other temporary queues end with the last session of the process."""
        for place in self._places.values():
            if place.howdah is not None and place.kind is Kind.SUBSCRIPTION:
                self._quietly(unsubscribe(place.howdah))
            elif place.howdah is not None and place.kind is Kind.TEMPORARY and place.exclusive:
                self._server.sharing.queues.pop(place.name, None)
                self._quietly(drop_temporary(place.howdah))
        self._places.clear()

    def _queue(self, place: Place) -> str:
        name = queue_name(place.name)
        if self._server.run(scalar("my_rights", queue=("text", name))) is None:
            options: dict[str, Any] = {**OPTIONS, **self._options}
            if (lasts := place.arguments.get(TIME_TO_LIVE)) is not None:
                options["default_time_to_live_ms"] = lasts
            self._create("create_queue", queue=("text", name), options=("jsonb", to_json(options)))
        if place.topic and place.kind is Kind.QUEUE:
            self._bridge_to(place, name)
        return name

    def _temporary(self, place: Place) -> str:
        """It may have been made on another connection of the process, which sends while this one receives."""
        made = self._server.sharing.queues.get(place.name)
        if made is None:
            return self._remade(place)
        self._server.share()
        return made

    def _remade(self, place: Place) -> str:
        made = self._server.temporary_queue()
        self._server.sharing.queues[place.name] = made
        return made

    def _subscription(self, place: Place) -> str:
        name = subscription_name(place.name)
        call = Subscription(place.topic, name, selector=selector(place.patterns), shared=True, durable=False).call()
        try:
            return self._server.run(call)
        except NoSuchQueue:
            self._create("create_topic", topic=("text", place.topic))
            return self._server.run(call)

    def _bridge(self, place: Place) -> None:
        self._bridge_to(place, self.make(place))

    def _bridge_to(self, place: Place, name: str) -> None:
        wanted = selector(place.patterns)
        try:
            call: Call[list[Any]] = Call("select * from howdah.list_bridges(%s::text)", (place.topic,), list)
            bridges = self._server.run(call)
            there: dict[str, str | None] = dict(bridges)
        except NoSuchQueue:
            there = {}
        if name in there and there[name] == wanted:
            return
        made = scalar("bridge", topic=("text", place.topic), queue=("text", name), selector=("text", wanted))
        try:
            self._server.run(made)
        except NoSuchQueue:
            self._create("create_topic", topic=("text", place.topic))
            self._server.run(made)

    def _create(self, function: str, **arguments: tuple[str, Any]) -> None:
        try:
            self._server.run(scalar(function, **arguments))
        except QueueExists:
            pass  # somebody else was faster
        except NotAllowed as error:
            # It may create itself (docs/auto-creation.md); if not, its first use says that it is not there.
            log.warning("%s: %s", next(iter(arguments.values()))[1], error)

    def _quietly(self, call: Call[Any]) -> None:
        try:
            self._server.run(call)
        except (HowdahError, OSError) as error:
            log.debug("%s", error)
