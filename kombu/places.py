"""Where AMQP's queues lie in Howdah, and what AMQP's patterns are as selectors."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cache

BAD = re.compile(r"[^A-Za-z0-9._/-]")
BAD_IN_SUBSCRIPTIONS = re.compile(r"[^A-Za-z0-9._-]")
TEMPORARY = "_TEMP."
"""How the names of temporary queues begin."""
LONGEST = 242
LONGEST_OF_SUBSCRIPTIONS = 100
"""A subscription's name holds its topic's, too."""


class Kind(Enum):
    """What AMQP's queue is in Howdah."""

    QUEUE = "queue"
    TEMPORARY = "temporary queue"
    SUBSCRIPTION = "subscription"


@dataclass
class Place:
    """One of AMQP's queues as this process knows it."""

    name: str
    kind: Kind = Kind.QUEUE
    #: Whether this process has declared it, whether it ends with its consumer, and what AMQP's arguments say.
    declared: bool = False
    passing: bool = False
    exclusive: bool = False
    arguments: dict[str, object] = field(default_factory=dict)
    #: The patterns of routing keys that it is bound with, by topic; and those that it was bound with. A subscription's
    #: are in the order in which the database made their sources, which all processes share.
    bindings: dict[str, list[str]] = field(default_factory=dict)
    ever: dict[str, list[str]] = field(default_factory=dict)
    #: Its name in Howdah. None: it has to be made, or looked for.
    howdah: str | None = None
    #: The names of its subscriptions: Howdah has one for each topic and pattern.
    sources: dict[str, tuple[str, str]] = field(default_factory=dict)

    @contextmanager
    def binding(self, topic: str, pattern: str) -> Iterator[None]:
        """Note a binding that the block makes, and forget it if that fails: what is noted is made again and again."""
        kind = self.kind
        added = [noted for noted in (self.bindings, self.ever) if pattern not in noted.get(topic, [])]
        for noted in added:
            noted.setdefault(topic, []).append(pattern)
        try:
            yield
        except BaseException:
            self.kind = kind
            for noted in added:
                _forget(noted, topic, pattern)
            raise

    def unbind(self, topic: str, pattern: str) -> None:
        """Note that a binding has ended. What came by it before stays in a durable queue."""
        _forget(self.bindings, topic, pattern)

    def fits(self, source: str, topic: str, routing_key: str) -> bool:
        """Whether a message is for this queue, which got it from a source of Howdah's, by a topic if by any.

        What matches several patterns comes by the first of them alone, as AMQP's queues get it once. The first is the
        oldest: a later one's source lacks earlier messages. Processes that share a queue must bind it with the same
        patterns: what one of them drops, another gets by the older source.
        """
        if source in self.sources:
            topic, pattern = self.sources[source]
            patterns = self.bindings[topic]
            earlier = patterns[: patterns.index(pattern)]
            return matches([pattern], routing_key) and not matches(earlier, routing_key)
        return topic not in self.ever or matches(self.ever[topic], routing_key)


def _forget(noted: dict[str, list[str]], topic: str, pattern: str) -> None:
    noted[topic].remove(pattern)
    if not noted[topic]:
        del noted[topic]


def queue_name(name: str) -> str:
    """A name as Howdah takes it: the same if possible, else with a distinguishing end."""
    told = BAD.sub("_", name)
    return name if told == name and len(name) <= LONGEST else _marked(told, name, LONGEST)


def subscription_name(name: str, topic: str, pattern: str) -> str:
    """The name of a queue's subscription to what matches a pattern, with what tells it from all others at its end.

    Howdah finds a subscription by its name alone, without the topic.
    """
    told = BAD_IN_SUBSCRIPTIONS.sub("_", name if pattern == "#" else f"{name} {pattern}")
    # No name of AMQP's has a NUL in it.
    return _marked(told, f"{name}\0{topic}\0{pattern}", LONGEST_OF_SUBSCRIPTIONS)


def _marked(told: str, whole: str, longest: int) -> str:
    mark = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{told[: longest - len(mark) - 1]}-{mark}"


def selector(patterns: list[str]) -> str | None:
    """What selects the messages of these patterns, and perhaps more: ``matches`` has the last word. None: all."""
    stems = [_stem(pattern) for pattern in dict.fromkeys(patterns)]
    return None if "" in stems or not stems else " or ".join(stems)


def _stem(pattern: str) -> str:
    if not re.search(r"[*#]", pattern):
        return f"routing_key = {_literal(pattern)}"
    # A # may stand for no word at all, and then the dot before it is not there either.
    stem = re.split(r"[*#]", pattern, maxsplit=1)[0].removesuffix(".")
    escaped = re.sub("([!%_])", r"!\1", stem)
    return stem and f"routing_key like {_literal(escaped + '%')} escape '!'"


def matches(patterns: list[str], routing_key: str) -> bool:
    """Whether a routing key matches one of AMQP's patterns: * is one word, # is any number of words."""
    return any(re.fullmatch(_expression(pattern), f".{routing_key}") for pattern in patterns)


@cache
def _expression(pattern: str) -> str:
    words = {"*": r"\.[^.]*", "#": r"(?:\.[^.]*)*"}
    return "".join(words.get(word, rf"\.{re.escape(word)}") for word in pattern.split("."))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
