"""Messages found, shown without what is private, followed, and dealt with: names and argument types, nothing else."""

from __future__ import annotations

from typing import Any, Unpack

from ...calls import Rows, scalar, table
from ...calls.bodies import to_json
from ...calls.search import (
    FOUND_COLUMNS,
    HISTORY_COLUMNS,
    REDACTION_COLUMNS,
    SHOWN_COLUMNS,
    Act,
    ActOptions,
    Batch,
    Counted,
    Cursor,
    Filter,
    Page,
    batch,
    counted,
    page,
    shown,
)
from .kept import AsyncKept


class AsyncSearch(AsyncKept):
    """The verbs of searches over anything that runs a call."""

    async def find_messages(
        self, queue: str, filter: Filter | None = None, *, after: Cursor | None = None, max_rows: int = 50
    ) -> Page:
        """Return messages that match, and how far it looked. after: the cursor of the page before."""
        arguments = _which(queue, filter, after) | {"max_rows": ("integer", max_rows)}
        return await self._run(table("find_messages", FOUND_COLUMNS, **arguments).then(page))

    async def count_matching(self, queue: str, filter: Filter | None = None, *, after: Cursor | None = None) -> Counted:
        """Count messages that match, as far as one call looks."""
        columns = "matching, looked, complete, cursor"
        return await self._run(table("count_matching", columns, **_which(queue, filter, after)).then(counted))

    async def act_on_matching(
        self,
        queue: str,
        act: Act,
        filter: Filter | None = None,
        *,
        reason: str,
        batch_size: int = 1000,
        after: Cursor | None = None,
        **options: Unpack[ActOptions],
    ) -> Batch:
        """Retry, replay, move, park or discard one batch of what matches. Call it with the cursor until complete.

        Options are target (move, replay), until and delay (park). Raises BadArgument, also without a reason.
        """
        given = {name: str(value) for name, value in options.items() if value is not None}
        arguments: dict[str, tuple[str, Any]] = {
            "queue": ("text", queue),
            "act": ("text", act),
            "filter": ("jsonb", to_json(filter or {})),
            "reason": ("text", reason),
            "batch": ("integer", batch_size),
            "options": ("jsonb", to_json(given if after is None else given | {"after": after})),
        }
        columns = "done, passed, looked, complete, cursor"
        return await self._run(table("act_on_matching", columns, **arguments).then(batch))

    async def show_message(self, queue: str, message_id: int) -> dict[str, Any] | None:
        """Return one message for people, redacted, or None if it is not in the queue."""
        arguments = {"queue": ("text", queue), "message_id": ("bigint", message_id)}
        return await self._run(table("show_message", SHOWN_COLUMNS, **arguments).then(shown))

    async def message_history(self, queue: str, message_id: int) -> Page:
        """Return what is on record of one message: events, failures and acts, the oldest first."""
        arguments = {"queue": ("text", queue), "message_id": ("bigint", message_id)}
        return await self._run(table("message_history", HISTORY_COLUMNS, **arguments).then(page))

    async def set_redaction(self, pattern: str, path: str, reason: str | None = None) -> bool:
        """Hide a part of the bodies of all queues that a wildcard names. Returns whether the rule is new."""
        return await self._run(scalar("set_redaction", **_rule(pattern, path, reason)).then(bool))

    async def drop_redaction(self, pattern: str, path: str, reason: str | None = None) -> bool:
        """Show again what a rule hid. Returns whether there was such a rule."""
        return await self._run(scalar("drop_redaction", **_rule(pattern, path, reason)).then(bool))

    async def list_redactions(self) -> Rows:
        """Return every redaction rule."""
        return await self._run(table("list_redactions", REDACTION_COLUMNS))


def _which(queue: str, filter: Filter | None, after: Cursor | None) -> dict[str, tuple[str, Any]]:
    return {
        "queue": ("text", queue),
        "filter": ("jsonb", to_json(filter or {})),
        "after": ("jsonb", None if after is None else to_json(after)),
    }


def _rule(pattern: str, path: str, reason: str | None) -> dict[str, tuple[str, Any]]:
    return {"pattern": ("text", pattern), "path": ("text", path), "reason": ("text", reason)}
