# Written by tools/make_sync.py from engine/aio/verbs.py: change that, and run make sync.
"""What all faces of the SQL API have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from .call import Call

T = TypeVar("T")


class Verbs:
    """Verbs over anything that runs a call: a connection, a session, a test."""

    def __init__(self, run: Callable[[Call[Any]], Any]) -> None:
        self._runner = run

    def _run(self, call: Call[T]) -> T:
        return cast(T, self._runner(call))
