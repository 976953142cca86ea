"""What test files import to see that a receiver was woken: it would not have looked by itself for half a minute."""

from __future__ import annotations

import pytest

from howdah.engine.database import waiting
from howdah.engine.database.waiting import Idle


def look_rarely(monkeypatch: pytest.MonkeyPatch) -> set[Idle]:
    """Let receivers of this process that have asked to be woken sleep for half a minute.

    Returns those that do, or are just about to.

    A wake-up that comes before their sleep ends it at once.
    """
    monkeypatch.setattr(waiting, "PAUSE_MAX", 30.0)
    pause, reset = Idle.pause, Idle.reset
    asleep: set[Idle] = set()

    def rarely(self: Idle) -> float | None:
        if not self._asked:  # until then it looks often
            self._next = min(self._next, 0.016)
        elif not any(asked.unsettled for asked in self._asked.values()):
            self._next = 30.0
            asleep.add(self)
        return pause(self)

    def awake(self: Idle) -> None:
        asleep.discard(self)
        reset(self)

    monkeypatch.setattr(Idle, "pause", rarely)
    monkeypatch.setattr(Idle, "reset", awake)
    return asleep
