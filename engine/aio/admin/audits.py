"""Recorded audits and the right to audit: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ...calls import Rows, scalar, table
from ...calls.audits import COLUMNS, Hold
from ...calls.bodies import to_json
from ..verbs import AsyncVerbs


class AsyncAudits(AsyncVerbs):
    """The verbs of audits over anything that runs a call, each in its own transaction."""

    async def hold(self, holder: str, seconds: float = 60) -> Hold:
        """Take or renew the right to be this database's only auditor for a time."""
        call = table(
            "hold_audit", "lock_epoch, held_by, held_until", holder=("text", holder), seconds=("numeric", seconds)
        )
        (row,) = await self._run(call)
        return Hold(row["lock_epoch"], row["held_by"], row["held_until"])

    async def release(self, epoch: int) -> None:
        """Give up the right to audit. Raises LockLost."""
        await self._run(scalar("release_audit", lock_epoch=("bigint", epoch)))

    async def record(
        self,
        started_at: datetime,
        exit_code: int,
        severity: str,
        *,
        taken_at: str | None = None,
        snapshot: str | None = None,
        errors: int = 0,
        warnings: int = 0,
        rows_read: int = 0,
        queues: list[dict[str, Any]] | None = None,
        rules: list[dict[str, Any]] | None = None,
        reason: str | None = None,
        version: str | None = None,
        output: str | None = None,
        epoch: int | None = None,
    ) -> int:
        """Record an audit's result. Returns the run's number. With epoch, ends the right to audit. Raises LockLost."""
        arguments: dict[str, tuple[str, Any]] = {
            "started_at": ("timestamptz", started_at),
            "exit_code": ("integer", exit_code),
            "severity": ("text", severity),
            "taken_at": ("timestamptz", taken_at),
            "snapshot": ("text", snapshot),
            "errors": ("bigint", errors),
            "warnings": ("bigint", warnings),
            "rows_read": ("bigint", rows_read),
            "queues": ("jsonb", to_json(queues or [])),
            "rules": ("jsonb", to_json(rules or [])),
            "reason": ("text", reason),
            "version": ("text", version),
            "output": ("text", output),
            "lock_epoch": ("bigint", epoch),
        }
        return await self._run(scalar("record_audit", **arguments).then(int))

    async def list(self, max_runs: int = 20, *, made: bool = False, before: int | None = None) -> Rows:
        """Return the last audits, newest first. made: leave failed ones out. before: only those before that run."""
        arguments: dict[str, tuple[str, Any]] = {"max_runs": ("integer", max_runs), "made": ("boolean", made or None)}
        if before is not None:
            arguments |= {"made": ("boolean", made), "before": ("bigint", before)}
        return await self._run(table("list_audits", COLUMNS, **arguments))

    async def last(self, *, made: bool = False, before: int | None = None) -> dict[str, Any] | None:
        """Return the last audit, or the last before a run, with its queues' figures; None if there was none."""
        rows = await self.list(1, made=made, before=before)
        return rows[0] if rows else None
