"""Links to other engines: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from typing import Unpack
from uuid import UUID

from ...calls import Rows, scalar, table
from ...calls.links import ARRIVAL_COLUMNS, COLUMNS
from ...calls.options import LinkOptions
from ..verbs import AsyncVerbs

_TYPES = {
    "target_queue": "text",
    "service": "text",
    "dsn_env": "text",
    "selector": "text",
    "batch_size": "integer",
    "retry_ms_max": "integer",
    "transformation": "text",
}


class AsyncLinks(AsyncVerbs):
    """The verbs of links over anything that runs a call, each in its own transaction."""

    async def create(self, name: str, source: str, target_queue: str, **options: Unpack[LinkOptions]) -> UUID:
        """Create a link from a queue or subscription to a queue of another engine. Raises LinkExists, NoSuchQueue."""
        arguments = {key: (_TYPES[key], value) for key, value in options.items()}
        call = scalar(
            "create_link",
            name=("text", name),
            source=("text", source),
            target_queue=("text", target_queue),
            **arguments,
        )
        return await self._run(call.then(_identity))

    async def alter(self, name: str, *, target_queue: str | None = None, **options: Unpack[LinkOptions]) -> None:
        """Change a link. Raises NoSuchLink."""
        arguments = {key: (_TYPES[key], value) for key, value in options.items()}
        await self._run(scalar("alter_link", name=("text", name), target_queue=("text", target_queue), **arguments))

    async def pause(self, name: str) -> bool:
        """Forward nothing more for now. Returns whether the link was not paused."""
        return await self._run(scalar("pause_link", name=("text", name)).then(bool))

    async def resume(self, name: str) -> bool:
        """Let a paused link forward again. Returns whether it was paused."""
        return await self._run(scalar("resume_link", name=("text", name)).then(bool))

    async def drop(self, name: str) -> None:
        """Drop a link. What was not forwarded stays where it is."""
        await self._run(scalar("drop_link", name=("text", name)))

    async def rebase(self, name: str) -> UUID:
        """Let a link begin anew after one of its engines was restored. Returns its new identity."""
        return await self._run(scalar("rebase_link", name=("text", name)).then(_identity))

    async def list(self) -> Rows:
        """Return the links from here."""
        return await self._run(table("list_links", COLUMNS))

    async def arrivals(self) -> Rows:
        """Return the links that lead here."""
        return await self._run(table("list_arrivals", ARRIVAL_COLUMNS))

    async def forget_arrivals(self, link_id: UUID) -> int:
        """Forget a link that leads here and was dropped at its sender. Returns how many messages were in transit."""
        return await self._run(scalar("forget_arrivals", link_id=("uuid", link_id)).then(int))

    async def new_engine_id(self) -> UUID:
        """Give the engine another identity, in a copy of a whole cluster. Returns it."""
        return await self._run(scalar("new_engine_id").then(_identity))


def _identity(value: UUID) -> UUID:
    return value
