"""Where AMQP's queues lie in Howdah, and what AMQP's patterns are as selectors."""

from __future__ import annotations

import hashlib
import re
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
    #: Of a subscription: the topic, and the patterns of routing keys that it is bound with.
    topic: str = ""
    patterns: list[str] = field(default_factory=list)
    #: What Howdah calls it. None: it has to be made, or looked for.
    howdah: str | None = None


def queue_name(name: str, bad: re.Pattern[str] = BAD, longest: int = LONGEST) -> str:
    """A name as Howdah takes it: the same if it can be, else with what tells it from all others at its end."""
    told = bad.sub("_", name)
    if told == name and len(name) <= longest:
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{told[: longest - len(mark) - 1]}-{mark}"


def subscription_name(name: str) -> str:
    """The same for the name of a subscription."""
    return queue_name(name, BAD_IN_SUBSCRIPTIONS, LONGEST_OF_SUBSCRIPTIONS)


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
    return not patterns or any(re.fullmatch(_expression(pattern), f".{routing_key}") for pattern in patterns)


@cache
def _expression(pattern: str) -> str:
    words = {"*": r"\.[^.]*", "#": r"(?:\.[^.]*)*"}
    return "".join(words.get(word, rf"\.{re.escape(word)}") for word in pattern.split("."))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
