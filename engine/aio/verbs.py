"""What all faces of the SQL API have in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from ..calls.call import Call

T = TypeVar("T")


class AsyncVerbs:
    """Verbs over anything that runs a call: a connection, a session, a test."""

    def __init__(self, run: Callable[[Call[Any]], Awaitable[Any]]) -> None:
        self._runner = run

    async def _run(self, call: Call[T]) -> T:
        return cast(T, await self._runner(call))
