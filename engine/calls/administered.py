"""What an administered connection factory decides over its clients' sends and receives; docs/objects.md."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeVar, cast

from ..errors import IllegalState
from .levels import Called, Destination, LevelMapping, Mode, Verb
from .stamps import Every, StampedBatch, StampedHeaders

Options = TypeVar("Options")
TEMPORARY = "_TEMP."
_PRIORITY: dict[Verb, str | None] = {"send": "priority", "send_many": "priorities", "load": None}
"""The option that priorities are given by."""


class AdministeredDestination(Destination):
    """A destination that was looked up."""

    __slots__ = ("kind", "object_name", "prefetch")
    object_name: str
    kind: Literal["queue", "topic"]
    prefetch: int | None

    @classmethod
    def found(cls, name: str, kind: Any, attributes: dict[str, Any]) -> Self:
        """Make it from an object of the naming service."""
        mode: Mode = attributes.get("delivery_mode", "application")
        made = cls(attributes["destination"], delivery_mode=mode)
        made.object_name, made.kind, made.prefetch = name, kind, attributes.get("prefetch")
        return made


@dataclass(frozen=True)
class Overrides:
    """What applies to each message, whatever its sender says. None: the sender decides."""

    delivery_mode: Literal["persistent", "non-persistent"] | None = None
    priority: int | None = None
    #: Seconds; 0 is unlimited.
    time_to_live: float | None = None
    #: Whether they apply to temporary destinations too.
    temporary: bool = False

    def over(self, queue: str) -> bool:
        """Whether they apply to a destination."""
        return self.temporary or not queue.startswith(TEMPORARY)


@dataclass(frozen=True)
class Administered(LevelMapping):
    """The mapping of an administered factory."""

    overrides: Overrides = Overrides()
    predefined_only: bool = False
    client_id: str | None = None

    def applied(self, queue: str, options: Options, verb: Verb = "send") -> Options:
        """The options of a send, with what applies whatever its sender says."""
        given = self._overridden(queue, options, _PRIORITY[verb])
        if verb == "load":
            given.pop("notify", None)  # every() says it
        elif self.stamps.on_send:
            stamped = StampedHeaders if verb == "send" else StampedBatch
            given["headers"] = stamped(given.get("headers"), self.stamps)
        return cast("Options", given)

    def every(self, queue: str) -> Every | None:
        """What each message of a stream or a load gets besides."""
        priority = self.overrides.priority if self.overrides.over(queue) else None
        return Every(priority, self.stamps, self.notify)

    def answered(self, queue: str, options: Options) -> Options:
        """The options of an answer, which has no priority of its own."""
        self.check(queue)
        if self.overrides.over(queue):
            return cast("Options", self._overridden(queue, options, None))
        return options if self.notify else cast("Options", {**cast("dict[str, Any]", options), "notify": False})

    def _overridden(self, queue: str, options: Any, priority: str | None) -> dict[str, Any]:
        self.check(queue)
        given: dict[str, Any] = dict(options)
        if not self.notify:
            given["notify"] = False
        wanted = self.overrides
        if not wanted.over(queue):
            return dict(super().applied(queue, given))
        if wanted.priority is not None and priority is not None:
            given[priority] = wanted.priority
        if wanted.time_to_live is not None:
            given["time_to_live"] = wanted.time_to_live or None
        if wanted.delivery_mode is None:
            return dict(super().applied(queue, given))
        return dict(super().applied(Destination(queue, delivery_mode=wanted.delivery_mode), given))

    def check(self, queue: str) -> None:
        """Refuse a destination that was not looked up. Raises IllegalState."""
        if self.predefined_only and not isinstance(queue, AdministeredDestination) and not queue.startswith(TEMPORARY):
            raise IllegalState(
                f"this connection reaches only destinations that were looked up, and {queue!r} was not",
                "Look it up: connection.lookup(name).",
            )

    def check_client_id(self, client_id: str | None) -> None:
        """Refuse another client id. Raises IllegalState."""
        if self.client_id is not None and client_id not in (None, self.client_id):
            raise IllegalState(f"the client id is configured: {self.client_id}")

    def received(self, call: Called, *, consumed: bool = True) -> Called:
        """The call of a receive, with the properties that messages get then. consumed: it consumes them, too."""
        stamps = self.stamps if consumed else replace(self.stamps, consumer_txid=False)
        plain: Any = call
        sql = stamps.received(plain.sql)
        return call if sql == plain.sql else cast("Called", replace(plain, sql=sql))
