"""A listening connection for an owner that serves many consumers and hears every notification."""

from __future__ import annotations

from collections.abc import Callable

from .waking import Waking


class Hearing(Waking):
    """Listens on a connection of its own. ``heard`` is called on its thread: with a payload, or None if it is lost."""

    def __init__(self, conninfo: str, heard: Callable[[str | None], object]) -> None:
        super().__init__(conninfo)
        self._users = 1
        self._heard = heard

    def _notified(self, payload: str) -> None:
        self._heard(payload)

    def _lost(self) -> None:
        with self._lock:
            self._listening = False
        self._heard(None)
