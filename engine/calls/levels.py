"""Which level of reliability a send asks for: by its destination object, its options and its connection factory.

The rules are those of WebSphere's service integration. The destination's delivery mode overrides the send's, and the
factory maps a mode to a level. A given level overrides a mode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, TypeVar, cast

from ..errors import BadArgument
from .stamps import NO_STAMPS, Every, Stamps

LEVELS = (
    "BEST_EFFORT_NONPERSISTENT",
    "EXPRESS_NONPERSISTENT",
    "RELIABLE_NONPERSISTENT",
    "RELIABLE_PERSISTENT",
    "ASSURED_PERSISTENT",
)
"""The levels from the lowest to the highest."""

HOME = "howdah_home"
"""The header of the instance through which a message was sent."""

Mode = Literal["application", "persistent", "non-persistent"]
Verb = Literal["send", "send_many", "load"]
"""A send of one message, of many with options of their own, or a stream or load, which has none: see ``every``."""
Options = TypeVar("Options")
Called = TypeVar("Called")


class Destination(str):
    """The name of a queue or topic with a delivery mode that decides over that of each send, as JMS has it.

    ``application``, the default, leaves it to the send.
    """

    __slots__ = ("delivery_mode",)
    delivery_mode: Mode

    def __new__(cls, name: str, *, delivery_mode: Mode = "application") -> Self:
        """Raises BadArgument for an unknown mode."""
        if delivery_mode not in ("application", "persistent", "non-persistent"):
            raise BadArgument(
                f"there is no delivery mode {delivery_mode!r}", "It is application, persistent or non-persistent."
            )
        made = super().__new__(cls, name)
        made.delivery_mode = delivery_mode
        return made


@dataclass(frozen=True)
class LevelMapping:
    """The levels that a factory's two delivery modes stand for. None: the server decides."""

    persistent: str | None = None
    nonpersistent: str | None = None
    #: The name of the instance that messages are sent through, for their header howdah_home.
    home: str | None = None

    #: What an administered factory adds; docs/objects.md. A page of a browser, and seconds that one may take.
    page: int = 100
    page_timeout: float | None = None
    #: Bytes that a producer may leave unconfirmed, and whether it waits for no message (True), all (False) or some.
    window_bytes: int | None = None
    asynchronous: bool | None = None
    stamps: Stamps = NO_STAMPS
    #: False: no waiting receiver is woken, so that transactions can be prepared.
    notify: bool = True

    def __post_init__(self) -> None:
        for level, wanted in ((self.persistent, LEVELS[3:]), (self.nonpersistent, LEVELS[:3])):
            if level is not None and level not in wanted:
                raise BadArgument(f"{level!r} is no level for this delivery mode", f"It is {' or '.join(wanted)}.")

    def stamped(self, queue: str, options: Options, bodies: int | None = None) -> Options:
        """As ``applied``, and with the header of the home instance. bodies: how many, of a send of many."""
        verb: Verb = "send" if bodies is None else "send_many"
        if self.home is None:
            return self.applied(queue, options, verb)
        given = cast("dict[str, Any]", options)
        headers, home = given.get("headers"), {HOME: self.home}
        if bodies is None:
            stamped: object = home | dict(headers or {})
        else:
            stamped = [home | dict(own or {}) for own in headers or [None] * bodies]
        return self.applied(queue, cast("Options", {**given, "headers": stamped}), verb)

    def applied(self, queue: str, options: Options, verb: Verb = "send") -> Options:
        """The options of a send, with the delivery mode or level that applies."""
        given = cast("dict[str, Any]", options)
        mode, level = given.get("delivery_mode"), given.get("reliability")
        own = getattr(queue, "delivery_mode", "application")
        if own != "application":
            mode = own
            if level is not None and level.endswith("_NONPERSISTENT") != (own == "non-persistent"):
                level = None
        if level is None and mode in (None, "persistent"):
            level = self.persistent
        elif level is None and mode == "non-persistent":
            level = self.nonpersistent
        if (mode, level) == (given.get("delivery_mode"), given.get("reliability")):
            return options
        return cast("Options", {**given, "delivery_mode": mode, "reliability": level})

    def every(self, queue: str) -> Every | None:
        """What each message of a stream or a load gets besides. None: nothing."""
        return None

    def answered(self, queue: str, options: Options) -> Options:
        """The options of an answer."""
        return options

    def check(self, queue: str) -> None:
        """Refuse a destination that this client may not use."""

    def check_client_id(self, client_id: str | None) -> None:
        """Refuse another client id than the configured one."""

    def received(self, call: Called, *, consumed: bool = True) -> Called:
        """The call of a receive, with the properties that messages get then. consumed: it consumes them, too."""
        return call


BY_SERVER = LevelMapping()
"""That of ``connect``: the queue's default decides, or a mode stands for assured or express."""
