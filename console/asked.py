"""What a form asks for, what an act is, and what it has done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .database import Work

Field = tuple[str, str, str]
REASON: Field = ("reason", "Why? It is recorded under your name.", "needed")


@dataclass(frozen=True)
class Asked:
    """What a form says."""

    #: The queue or topic of an act on all of its things.
    queue: str
    #: The targets of the act, if they are not the queue or its messages: schedules, links and so on.
    targets: tuple[str, ...]
    ids: tuple[int, ...]
    filter: str
    reason: str
    #: The other fields.
    values: Mapping[str, str]
    #: Where the previous batch ended.
    after: str = ""

    @property
    def whole(self) -> bool:
        """Whether the act is done to all of the queue or topic, not to targets."""
        return bool(self.values.get("all"))


@dataclass(frozen=True)
class Done:
    """How many were dealt with, and where to go on if that was one batch of more."""

    count: int
    after: str | None = None
    #: Matching messages that were left: they are in somebody's hands, or have no queue to go back to.
    left: int = 0
    #: What the database said of the first that was left, if that is something else.
    why: str = ""


@dataclass(frozen=True)
class Things:
    """Things of one kind, other than messages."""

    noun: str
    #: The function that lists those of a queue or topic.
    function: str
    #: Its argument for that. Empty: it has none.
    of: str
    #: Its column that an act names it by.
    key: str
    #: Its column that people name it by.
    name: str
    #: The page with those of a queue or topic.
    page: str
    #: Whether the key is a number.
    numbered: bool = False


@dataclass(frozen=True)
class Act:
    """Something that can be done."""

    title: str
    perform: Callable[[Work, Asked], Done]
    fields: tuple[Field, ...] = (REASON,)
    #: Whether it destroys something for good: the form then asks for a name.
    destructive: bool = False
    #: Whether it deals with messages: named ones, or all that match a filter.
    matching: bool = False
    #: What act_on_matching adds to a filter that does not say it.
    state: str | None = None
    #: What it is done to. None: a queue, or messages.
    things: Things | None = None


class UnconfirmedError(Exception):
    """The act would lose something, and the name was not written. Nothing was done."""
