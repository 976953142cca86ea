"""What a row of the page is, and what decides whether it was reached."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .bench import Bench
from .clients import Peers

#: What a goal is measured against, other than by name.
EVERYONE, ALONE = "everyone", "alone"


@dataclass(frozen=True)
class Goal:
    """What decides whether a row was reached."""

    #: How many times better ours is at least; alone: our own figure, of a rate or ratio at least, of a time at most.
    figure: float
    beside: str = ALONE
    #: A regular expression that the case's name holds.
    case: str = ""

    def met(self, case: str, beside: str, figure: float, higher_is_better: bool = True) -> bool | None:
        """Whether the figure reaches it; None if it is not meant."""
        if not re.search(self.case, case) or self.beside not in ({EVERYONE, beside} if beside != ALONE else {ALONE}):
            return None
        return figure >= self.figure if higher_is_better else figure <= self.figure


AHEAD = (Goal(1, EVERYONE),)
"""Ahead of them all."""


@dataclass(frozen=True)
class Row:
    """One row of the page."""

    key: str
    title: str
    run: Callable[[Bench, Peers], None]
    #: The goal in words, and as figures that are checked.
    reach: str = ""
    #: The side that ours is compared with first.
    against: str = ""
    goals: tuple[Goal, ...] = ()
    #: Also on a server that is not ours; the others make very many queues or change tables.
    anywhere: bool = True
    #: Left out of a quick run unless asked for by key: it measures one option, or takes longer than a quick run has.
    full_only: bool = False
