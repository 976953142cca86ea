"""How far ahead a consumer receives: the connection's settings, and a destination's own, which win."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl

from ..errors import BadArgument
from .modes import HALF, OPTIMIZED, AckMode

PREFETCH_MAX = 32767
BATCH_MAX = 1000
"""The most messages of one claim: a lease of more makes a long statement."""


@dataclass(frozen=True)
class Prefetch:
    """A connection's settings for consumers; ActiveMQ's prefetch policy and its defaults.

    - queue, durable_topic and topic: messages that a consumer holds ahead, of a queue, of a durable subscription, of
      one that ends with its session. With 0 each receive asks the server.
    - optimize_acknowledge: acknowledge at 65 % of the prefetch, or ``optimize_timeout`` seconds after the first. It
      needs a prefetch above 0. It concerns AUTO sessions, and DUPS_OK on queues.

    Raises BadArgument.
    """

    queue: int = 1000
    durable_topic: int = 100
    topic: int = PREFETCH_MAX
    optimize_acknowledge: bool = False
    optimize_timeout: float = 0.3

    def __post_init__(self) -> None:
        for name in ("queue", "durable_topic", "topic"):
            _check_size(name, getattr(self, name))
        if not isinstance(self.optimize_timeout, int | float) or not 0 <= self.optimize_timeout < math.inf:
            raise BadArgument(f"optimize_timeout is a number of seconds, not {self.optimize_timeout!r}")
        if self.optimize_acknowledge and 0 in (self.queue, self.durable_topic, self.topic):
            raise _optimized_pull()

    @classmethod
    def from_url(cls, options: Mapping[str, str], given: Prefetch | None = None) -> Prefetch:
        """From ActiveMQ's options of a connection's URL, over what is given otherwise. Raises BadArgument."""
        values: dict[str, Any] = {}
        for option, text in options.items():
            if option not in _URL:
                raise BadArgument(f"{option} is not an option of a connection", "Options are " + ", ".join(_URL) + ".")
            for name in _URL[option]:
                values[name] = _value(option, name, text)
        return replace(given or cls(), **values)

    def window(
        self,
        destination: str,
        mode: AckMode,
        *,
        kind: str = "queue",
        prefetch: int | None = None,
        optimize_acknowledge: bool | None = None,
        exclusive: bool | None = None,
        priority: int | None = None,
    ) -> Window:
        """Return one consumer's settings: the arguments, else the options of the destination, else the connection's.

        ``orders?consumer.prefetchSize=100&consumer.optimizeAcknowledge=true``. Raises BadArgument.
        """
        name, _, rest = destination.partition("?")
        size: int = getattr(self, kind)
        optimize = self.optimize_acknowledge
        behind: dict[str, Any] = {}
        for option, text in parse_qsl(rest, keep_blank_values=True):
            if option == "consumer.prefetchSize":
                size = _value(option, "queue", text)
            elif option == "consumer.optimizeAcknowledge":
                optimize = _value(option, "optimize_acknowledge", text)
            elif option in ("consumer.exclusive", "consumer.priority"):
                name_of = option.removeprefix("consumer.")
                behind[name_of] = _value(option, name_of, text)
            else:
                raise BadArgument(
                    f"{option} is not an option of a destination",
                    "Options are consumer.prefetchSize, consumer.optimizeAcknowledge, consumer.exclusive"
                    " and consumer.priority.",
                )
        size = size if prefetch is None else prefetch
        optimize = optimize if optimize_acknowledge is None else optimize_acknowledge
        _check_size("prefetch", size)
        if optimize and size == 0:
            raise _optimized_pull()
        exclusive = behind.get("exclusive", False) if exclusive is None else exclusive
        priority = behind.get("priority", 0) if priority is None else priority
        return Window(name, size, _batch_of(mode, kind, size, optimize), self.optimize_timeout, exclusive, priority)


@dataclass(frozen=True)
class Window:
    """What holds for one consumer."""

    queue: str
    #: Messages held ahead; 0: each receive claims one.
    prefetch: int
    #: How many handled messages to acknowledge together. 1: each at once.
    batch: int
    #: Seconds after which what was handled is acknowledged, however little it is.
    timeout: float
    #: Whether no other consumer of the queue gets messages while it lives, and its place among several such.
    exclusive: bool = False
    priority: int = 0

    @property
    def half(self) -> int:
        """Unacknowledged messages at which a client's window grows, and by how many."""
        return math.ceil(self.prefetch * HALF)


_URL = {
    "jms.prefetchPolicy.all": ("queue", "durable_topic", "topic"),
    "jms.prefetchPolicy.queuePrefetch": ("queue",),
    "jms.prefetchPolicy.durableTopicPrefetch": ("durable_topic",),
    "jms.prefetchPolicy.topicPrefetch": ("topic",),
    "jms.optimizeAcknowledge": ("optimize_acknowledge",),
    "jms.optimizeAcknowledgeTimeOut": ("optimize_timeout",),
}
_TRUTH = {"true": True, "false": False}


def _batch_of(mode: AckMode, kind: str, prefetch: int, optimize: bool) -> int:
    if mode is AckMode.DUPS_OK and kind != "queue":
        return max(1, math.ceil(prefetch * HALF))
    if mode in (AckMode.AUTO, AckMode.DUPS_OK) and optimize:
        return max(1, math.ceil(prefetch * OPTIMIZED))
    return 1


def _value(option: str, name: str, text: str) -> Any:
    """The value of an option's text; timeouts stand in a URL in milliseconds."""
    try:
        if name in ("optimize_acknowledge", "exclusive"):
            return _TRUTH[text.lower()]
        return int(text) / 1000 if name == "optimize_timeout" else int(text)
    except (KeyError, ValueError):
        raise BadArgument(f"{option} cannot be {text!r}") from None


def _check_size(name: str, size: Any) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= PREFETCH_MAX:
        raise BadArgument(f"{name} must be a whole number from 0 to {PREFETCH_MAX}, not {size!r}")


def _optimized_pull() -> BadArgument:
    return BadArgument(
        "optimised acknowledgement needs a prefetch above 0", "With 0 each receive asks the server anyway."
    )
