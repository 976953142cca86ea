# Written by tools/make_sync.py from engine/aio/admin/changes.py: change that, and run make sync.
"""The record of what administrators change: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from ..calls import Rows, scalar, table
from ..calls.changes import CHANGE_COLUMNS, RECORD_COLUMNS
from ..calls.verbs import Verbs


class Changes(Verbs):
    """The record of changes over anything that runs a call, each in its own transaction."""

    def list(
        self,
        kind: str | None = None,
        name: str | None = None,
        *,
        max_changes: int = 100,
        before: Mapping[str, Any] | None = None,
    ) -> Rows:
        """Return what administrators changed and what operators did, newest first. ``before``: last row of a page."""
        last = before or {}
        return self._run(
            table(
                "list_changes",
                CHANGE_COLUMNS,
                of_kind=("text", kind),
                of_name=("text", name),
                max_changes=("integer", max_changes),
                before_at=("timestamptz", last.get("at")),
                before_change=("bigint", last.get("change_id")),
                before_act=("bigint", last.get("act_id")),
            )
        )

    def show(self, change: int) -> dict[str, Any] | None:
        """Return one change, or None if there is none that the caller may see."""
        rows = self._run(table("list_changes", CHANGE_COLUMNS, only_change=("bigint", change)))
        return rows[0] if rows else None

    def read(
        self, after: str | None = None, *, max_changes: int = 1000, kind: str | None = None, name: str | None = None
    ) -> Rows:
        """Return changes in the order of commits. To go on, pass the last ``position`` as ``after``.

        Raises JournalGone if retention dropped some of them, and ForeignOffset after a restore.
        """
        return self._run(
            table(
                "config_changes",
                RECORD_COLUMNS,
                after_position=("text", after),
                max_changes=("integer", max_changes),
                of_kind=("text", kind),
                of_name=("text", name),
            )
        )

    def undo(self, change: int, *, again: bool = False) -> int | None:
        """Take a change back. Returns the number of the change that does; None: nothing had to be changed.

        ``again``: also if the thing was changed since. Raises ChangesRefused, QueueNotEmpty, BadArgument.
        """
        undone = scalar("undo_change", change=("bigint", change), again=("boolean", again or None))
        return self._run(undone.then(lambda number: None if number is None else int(number)))

    def backup(self) -> Rows:
        """Return the record and the configuration that it led to, one JSON object a line."""
        rows = self._run(table("backup_changes", "backup_changes"))
        return [row["backup_changes"] for row in rows]

    def restore(self, backup: Sequence[Mapping[str, Any]], *, prune: bool = False) -> int:
        """Make the configuration what a backup says. Returns how many things were made, altered or dropped.

        ``prune``: also drop what the backup does not have, if that loses no message.
        """
        lines = [Jsonb(line) for line in backup]
        restored = scalar("restore_changes", backup=("jsonb[]", lines), prune=("boolean", prune or None))
        return self._run(restored.then(int))
