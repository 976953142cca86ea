"""Other applications, in processes whose sessions look only twice a minute once they have asked to be woken."""

from __future__ import annotations

from importlib import import_module

from howdah.engine.database import waiting
from howdah.engine.database.waiting import Idle

app = import_module("workapp").app
both, ordered = import_module("topicapp").both, import_module("topicapp").ordered

waiting.PAUSE_MAX = 30.0
_pause = Idle.pause


def _rarely(self: Idle) -> float | None:
    if not self._asked:  # until then it looks often
        self._next = min(self._next, 0.016)
    elif not any(asked.unsettled for asked in self._asked.values()):
        self._next = 30.0
    return _pause(self)


Idle.pause = _rarely  # type: ignore[method-assign]
