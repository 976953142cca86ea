# Written by tools/make_sync.py from engine/aio/admin/links.py: change that, and run make sync.
"""Links to other engines: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from typing import Unpack
from uuid import UUID

from ..calls import Rows, scalar, table
from ..calls.links import ARRIVAL_COLUMNS, COLUMNS
from ..calls.options import LinkOptions
from ..calls.verbs import Verbs

_TYPES = {
    "target_queue": "text",
    "service": "text",
    "dsn_env": "text",
    "selector": "text",
    "batch_size": "integer",
    "retry_ms_max": "integer",
    "transformation": "text",
}


class Links(Verbs):
    """The verbs of links over anything that runs a call, each in its own transaction."""

    def create(self, name: str, source: str, target_queue: str, **options: Unpack[LinkOptions]) -> UUID:
        """Create a link from a queue or subscription to a queue of another engine. Raises LinkExists, NoSuchQueue."""
        arguments = {key: (_TYPES[key], value) for key, value in options.items()}
        call = scalar(
            "create_link",
            name=("text", name),
            source=("text", source),
            target_queue=("text", target_queue),
            **arguments,
        )
        return self._run(call.then(_identity))

    def alter(self, name: str, *, target_queue: str | None = None, **options: Unpack[LinkOptions]) -> None:
        """Change a link. Raises NoSuchLink."""
        arguments = {key: (_TYPES[key], value) for key, value in options.items()}
        self._run(scalar("alter_link", name=("text", name), target_queue=("text", target_queue), **arguments))

    def pause(self, name: str) -> bool:
        """Forward nothing more for now. Returns whether the link was not paused."""
        return self._run(scalar("pause_link", name=("text", name)).then(bool))

    def resume(self, name: str) -> bool:
        """Let a paused link forward again. Returns whether it was paused."""
        return self._run(scalar("resume_link", name=("text", name)).then(bool))

    def drop(self, name: str) -> None:
        """Drop a link. What was not forwarded stays where it is."""
        self._run(scalar("drop_link", name=("text", name)))

    def rebase(self, name: str) -> UUID:
        """Let a link begin anew after one of its engines was restored. Returns its new identity."""
        return self._run(scalar("rebase_link", name=("text", name)).then(_identity))

    def list(self) -> Rows:
        """Return the links from here."""
        return self._run(table("list_links", COLUMNS))

    def arrivals(self) -> Rows:
        """Return the links that lead here."""
        return self._run(table("list_arrivals", ARRIVAL_COLUMNS))

    def forget_arrivals(self, link_id: UUID) -> int:
        """Forget a link that leads here and was dropped at its sender. Returns how many messages were in transit."""
        return self._run(scalar("forget_arrivals", link_id=("uuid", link_id)).then(int))

    def new_engine_id(self) -> UUID:
        """Give the engine another identity, in a copy of a whole cluster. Returns it."""
        return self._run(scalar("new_engine_id").then(_identity))


def _identity(value: UUID) -> UUID:
    return value
