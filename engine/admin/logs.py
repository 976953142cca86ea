# Written by tools/make_sync.py from engine/aio/admin/logs.py: change that, and run make sync.
"""The log of the engine: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..calls import Call, Rows, scalar, table
from ..calls.bodies import to_json
from ..calls.verbs import Verbs

COLUMNS = "logged_at, logged_level, logged_event, destination, actor, text, details"


class Logs(Verbs):
    """What happened in the engine, over anything that runs a call: each verb in its own transaction."""

    def write(self, level: str, text: str, details: Mapping[str, Any] | None = None) -> None:
        """Write a line to the log of the engine's workers. level: ERROR, WARNING or INFO. Raises BadArgument."""
        arguments: dict[str, tuple[str, Any]] = {
            "level": ("text", level),
            "text": ("text", text),
            "details": ("jsonb", to_json(dict(details or {}))),
        }
        self._run(scalar("log", **arguments))

    def list(
        self,
        level: str = "INFO",
        *,
        queue: str | None = None,
        event: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        max_rows: int = 100,
    ) -> Rows:
        """Return what was logged, newest first: events of a level and what is more severe."""
        arguments: dict[str, tuple[str, Any]] = {
            "level": ("text", level),
            "queue": ("text", queue),
            "event": ("text", event),
            "since": ("timestamptz", since),
            "until": ("timestamptz", until),
            "max_rows": ("integer", max_rows),
        }
        return self._run(table("list_log", COLUMNS, **arguments))

    def since(self, position: dict[str, Any] | None = None, max_rows: int = 1000) -> dict[str, Any]:
        """Return what was logged since a call: next_position, for the next one, entries and more. None: begin now."""
        arguments: dict[str, tuple[str, Any]] = {
            "position": ("jsonb", None if position is None else to_json(position)),
            "max_rows": ("integer", max_rows),
        }
        rows = self._run(table("log_since", "next_position, entries, more", **arguments))
        return rows[0]

    def read(self, reader: str, max_rows: int = 1000) -> Rows:
        """Return what was logged since this reader's last call. The database stores where each reader is."""
        arguments: dict[str, tuple[str, Any]] = {"reader": ("text", reader), "max_rows": ("integer", max_rows)}
        entries: Call[Rows] = scalar("read_log", **arguments)
        return self._run(entries)

    def metrics(self) -> Rows:
        """Return how much went through each queue, and through all (queue_name None), in, out and failed."""
        columns = "queue_name, messages_in, messages_out, failed, there, exact"
        return self._run(table("list_metrics", columns))
