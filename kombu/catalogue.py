"""Makes AMQP's queues in Howdah, and remembers which there are."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

from ..engine.calls import Call, scalar
from ..engine.calls.bodies import to_json
from ..engine.calls.call import single
from ..engine.calls.temporary import drop as drop_temporary
from ..engine.calls.topics import Subscription, unsubscribe
from ..engine.errors import HowdahError, NoSuchQueue, NotAllowed, QueueExists
from .exchanges import Replies, topic_name
from .places import TEMPORARY, Kind, Place, queue_name, selector, subscription_name
from .server import Server

log = logging.getLogger("howdah.kombu")

OPTIONS = {"default_priority": 0}
"""Options of queues made here. In AMQP, a message without a priority has the lowest."""
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
        """Note where a queue's messages come from. What the binding needs in the database is made now."""
        place = self.target(queue)
        if kind in ("topic", "fanout"):
            topic, pattern = topic_name(exchange), "#" if kind == "fanout" else routing_key
            with place.binding(topic, pattern):
                if place.passing or place.exclusive:
                    place.kind = Kind.SUBSCRIPTION
                    self.make(place, anew=True)
                else:
                    self._bridge(topic, self.make(place), place.bindings[topic])
        elif place.exclusive or (place.passing and not durable):
            place.kind = Kind.TEMPORARY
            self._replies.bind(exchange, routing_key, self.make(place))
        else:
            place.passing = False  # other processes send to it by its name, and so it has to be a queue of its own
            self.make(place)

    def unbind(self, queue: str, exchange: str, routing_key: str, kind: str) -> None:
        """Remove a binding. A subscription loses what came by the binding and is not read yet.

        Raises NotAllowed, and SubscriptionInUse while somebody has messages in hand that came by it.
        """
        place = self._places.get(queue)
        self._replies.unbind(exchange, routing_key)
        topic, pattern = topic_name(exchange), "#" if kind == "fanout" else routing_key
        if place is None or pattern not in place.bindings.get(topic, []):
            return
        if place.kind is Kind.SUBSCRIPTION:
            self._end_source(place, topic, pattern)
        left = [other for other in place.bindings[topic] if other != pattern]
        if place.kind is Kind.QUEUE and left:
            self._bridge(topic, self.make(place), left)
        elif place.kind is Kind.QUEUE:
            name = self.make(place)
            self._unless_gone(scalar("unbridge", topic=("text", topic), queue=("text", name)))
        place.unbind(topic, pattern)  # not before: a binding that could not be ended is still there
        if place.kind is Kind.SUBSCRIPTION and not place.bindings:
            place.kind = Kind.QUEUE  # as before it was bound

    def _end_source(self, place: Place, topic: str, pattern: str) -> None:
        for source in [source for source, of in place.sources.items() if of == (topic, pattern)]:
            self._unless_gone(unsubscribe(source))
            del place.sources[source]
        place.howdah = next(iter(place.sources), None)

    def target(self, queue: str) -> Place:
        """What a queue is. A queue that nobody has declared is one of Howdah's."""
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
        """The name by which an answerer reaches a queue of this process. The queue may be declared, but not made
        yet."""
        place = self._places.get(queue)
        if place is not None and (place.passing or place.exclusive) and place.kind is not Kind.SUBSCRIPTION:
            return self.make(place)
        return self._server.sharing.queues.get(queue) or queue

    def make(self, place: Place, *, anew: bool = False) -> str:
        """Return Howdah's name of a queue, and make the queue if need be. anew: somebody has dropped or changed it."""
        if place.howdah is None or anew:
            if place.kind is Kind.QUEUE and (place.exclusive or place.passing):
                place.kind = Kind.TEMPORARY
            makers: dict[Kind, Callable[[Place], str]] = {
                Kind.QUEUE: self._queue,
                Kind.TEMPORARY: self._remade if anew else self._temporary,
                Kind.SUBSCRIPTION: self._subscribe,
            }
            place.howdah = makers[place.kind](place)
        return place.howdah

    def sources(self, place: Place) -> list[str]:
        """Return Howdah's names of all that a queue is received from, and make what is missing."""
        name = self.make(place)
        return list(place.sources) if place.kind is Kind.SUBSCRIPTION else [name]

    def exists(self, queue: str) -> bool:
        """Whether there is such a queue."""
        place = self.target(queue)
        name = place.howdah or queue_name(queue)
        return self._server.run(scalar("my_rights", queue=("text", name))) is not None

    def size(self, queue: str) -> int:
        """How many messages are ready or wait for their time, without those in hand. 0: there is no queue."""
        try:
            return sum(self._server.run(_size(name)) for name in self._made(self.target(queue)))
        except NoSuchQueue:
            return 0

    def _made(self, place: Place) -> list[str]:
        """Return Howdah's names of all that a queue is received from, as far as it has been made."""
        if place.howdah is None:
            return [] if place.passing or place.exclusive else [queue_name(place.name)]
        return self.sources(place)

    def purge(self, queue: str) -> int:
        """Discard a queue's messages."""
        try:
            made = self._made(self.target(queue))
            return sum(int(self._server.run(scalar("purge_queue", queue=("text", name)))) for name in made)
        except NoSuchQueue:
            return 0

    def drop(self, queue: str) -> None:
        """End a queue, if there is one. A durable one goes with the messages that somebody has in hand.

        Raises NotAllowed. While messages are in hand it raises QueueInUse for a temporary queue, and SubscriptionInUse
        for a subscription.
        """
        place = self._places.get(queue)
        name = queue_name(queue) if place is None or place.howdah is None else place.howdah
        if place is not None and place.kind is Kind.SUBSCRIPTION:
            self._unless_gone(_unsubscribe_all(place.sources))
        elif place is not None and place.kind is Kind.TEMPORARY:
            self._unless_gone(drop_temporary(name))
            self._server.sharing.queues.pop(place.name, None)
        elif place is None or self._made(place):
            self._unless_gone(Call("select howdah.drop_queue(%s::text, true)", (name,), lambda rows: None))
        self._places.pop(queue, None)

    def close(self) -> None:
        """End what ends with the connection. Other temporary queues end with the last session of the process."""
        for place in self._places.values():
            if place.sources:  # all or none: a new one would be the youngest for the processes that meet it first
                self._quietly(_unsubscribe_all(place.sources))
            if place.howdah is not None and place.kind is Kind.TEMPORARY and place.exclusive:
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
        for topic, patterns in place.bindings.items():
            self._bridge(topic, name, patterns)
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

    def _subscribe(self, place: Place) -> str:
        """One for each binding: a subscription whose selector changes loses what it has not read."""
        bound = [(topic, pattern) for topic, patterns in place.bindings.items() for pattern in patterns]
        sources = {self._subscription(place.name, *binding): binding for binding in bound}
        several = [topic for topic, patterns in place.bindings.items() if len(patterns) > 1]
        place.bindings.update({topic: self._by_age(topic, sources) for topic in several})
        place.sources = sources
        return next(iter(sources))

    def _by_age(self, topic: str, sources: dict[str, tuple[str, str]]) -> list[str]:
        """The patterns of a topic, the oldest source's first. The order of kombu's bindings differs between processes.

        A source that is not listed has just been ended by somebody else: it will be the newest.
        """
        call: Call[list[Any]] = Call(
            "select subscription from howdah.list_subscriptions(%s::text) where subscription = any (%s::text[])"
            " order by created_at, subscription",
            (topic, list(sources)),
            list,
        )
        listed = [sources[name][1] for (name,) in self._server.run(call)]
        return listed + [pattern for of, pattern in sources.values() if of == topic and pattern not in listed]

    def _subscription(self, queue: str, topic: str, pattern: str) -> str:
        name = subscription_name(queue, topic, pattern)
        call = Subscription(topic, name, selector=selector([pattern]), shared=True, durable=False).call()
        try:
            return self._server.run(call)
        except NoSuchQueue:
            self._create("create_topic", topic=("text", topic))
            return self._server.run(call)

    def _bridge(self, topic: str, name: str, patterns: list[str]) -> None:
        wanted = selector(patterns)
        try:
            call: Call[list[Any]] = Call("select queue, selector from howdah.list_bridges(%s::text)", (topic,), list)
            bridges = self._server.run(call)
            there: dict[str, str | None] = dict(bridges)
        except NoSuchQueue:
            there = {}
        if name in there and there[name] == wanted:
            return
        made = scalar("bridge", topic=("text", topic), queue=("text", name), selector=("text", wanted))
        try:
            self._server.run(made)
        except NoSuchQueue:
            self._create("create_topic", topic=("text", topic))
            self._server.run(made)

    def _create(self, function: str, **arguments: tuple[str, Any]) -> None:
        try:
            self._server.run(scalar(function, **arguments))
        except QueueExists:
            pass  # somebody else was faster
        except NotAllowed as error:
            # It may create itself (docs/auto-creation.md); if not, its first use says that it is not there.
            log.warning("%s: %s", next(iter(arguments.values()))[1], error)

    def _unless_gone(self, call: Call[Any]) -> None:
        try:
            self._server.run(call)
        except NoSuchQueue as error:
            log.debug("%s", error)

    def _quietly(self, call: Call[Any]) -> None:
        try:
            self._server.run(call)
        except (HowdahError, OSError) as error:
            log.debug("%s", error)


def _unsubscribe_all(sources: Iterable[str]) -> Call[None]:
    """End those that are there, in one transaction: all, or none."""
    return Call(
        "select howdah.unsubscribe(n) from unnest(%s::text[]) n where howdah.my_rights(n) is not null",
        (sorted(sources),),
        lambda rows: None,
    )


def _size(name: str) -> Call[int]:
    """Count the messages of a queue that a receiver could get, now or at their time."""
    leased = (
        "select coalesce(sum(l.messages), 0) from howdah.list_leases(%s::text) l where l.leased_until > howdah.now()"
    )
    return Call(
        f"select greatest(s.live + s.parked - ({leased}), 0)::bigint from howdah.queue_stats(%s::text) s",
        (name, name),
        single,
    )
